// How every control in JavaScript tells its figures.
import { createInterface } from 'node:readline';

/**
 * Answers each line on standard input by one line of JSON taken at that moment; the end of input
 * ends the process.
 * @param {() => object} figures
 */
export function answerMarks(figures) {
  const marks = createInterface({ input: process.stdin });
  marks.on('line', () => process.stdout.write(`${JSON.stringify(figures())}\n`));
  marks.on('close', () => process.exit(0));
}

/** CPU µs of this process so far, user and system. */
export function cpuUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
