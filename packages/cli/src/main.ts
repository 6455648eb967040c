import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { actionsFor } from './actions.ts';
import type { RunScene } from './commands/run.ts';
import { namedDescriptorFailure } from './descriptor-failure.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { PlanRefused } from './plan-refused.ts';
import { buildProgram } from './program.ts';
import { describeFailure, failureLine, ONE_LINE } from './terminal/failure.ts';
import { openTerminal, type Terminal } from './terminal/terminal.ts';

/** The command itself: reads the command line, does what it says, ends with the right exit code. */
const terminal = openTerminal(process.env);
process.exitCode = await main(process.argv, terminal);

async function main(argv: readonly string[], to: Terminal): Promise<number> {
  let exitCode: number = EXIT.ok;
  const scene: RunScene = {
    terminal: to,
    version: ownVersion(),
    program: fileURLToPath(import.meta.url),
  };
  const actions = actionsFor(scene, (code) => {
    exitCode = code;
  });
  try {
    await buildProgram(scene.version, actions).parseAsync(argv);
    return exitCode;
  } catch (error) {
    return fail(error, to);
  }
}

/** Tells what went wrong. @returns the exit code. */
function fail(error: unknown, to: Terminal): number {
  // Commander has printed its message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof PlanRefused) {
    to.error(`${error.message}\n`);
    return EXIT.planInvalid;
  }
  const named = namedDescriptorFailure(error);
  const describe =
    process.env[ONE_LINE.variable] === ONE_LINE.value ? failureLine : describeFailure;
  to.error(describe(named, to.errorStyle));
  return exitCodeOf(named);
}

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown';
}
