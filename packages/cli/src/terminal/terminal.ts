import { type Style, styleFor } from './style.ts';

/** The streams that a command writes to. */
export interface Terminal {
  readonly out: NodeJS.WriteStream;
  /** For `out`; errors have their own. */
  readonly style: Style;
  readonly errorStyle: Style;
  print(text: string): void;
  error(text: string): void;
  /** A line of a process that runs for long: with the time in UTC. */
  log(text: string): void;
}

export function openTerminal(environment: Readonly<Record<string, string | undefined>>): Terminal {
  const { stdout, stderr } = process;
  // A reader that goes away (`squall run | head`) is no fault; the run goes on to its report.
  stdout.on('error', () => undefined);
  stderr.on('error', () => undefined);
  return {
    out: stdout,
    style: styleFor(stdout, environment),
    errorStyle: styleFor(stderr, environment),
    print: (text) => stdout.write(text),
    error: (text) => stderr.write(text),
    log: (text) => stderr.write(`${new Date().toISOString().slice(0, 19)}Z  ${text}\n`),
  };
}
