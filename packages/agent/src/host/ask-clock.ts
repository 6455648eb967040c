import { spawnSync } from 'node:child_process';

/** Each answers at once, or is not there to be asked. */
const ANSWER_MS = 2_000;

/** Who can be asked whether the wall clock is kept in time, and how a yes and a no begin. */
const KEEPERS = [
  {
    command: 'timedatectl',
    args: ['show', '--property=NTPSynchronized', '--value'],
    yes: /^yes/,
    no: /^no/,
  },
  {
    command: 'chronyc',
    args: ['-n', 'tracking'],
    yes: /^Leap status\s*: (Normal|Insert second|Delete second)/m,
    no: /^Leap status\s*: Not synchronised/m,
  },
  {
    command: 'ntpq',
    args: ['-c', 'rv 0 leap'],
    yes: /leap=0[012]|leap=[012]\b/,
    no: /leap=(11|3)/,
  },
] as const;

/** Asks the keepers of time of this host; null where nobody answers. For a person who waits. */
export function askClock(): boolean | null {
  for (const { command, args, yes, no } of KEEPERS) {
    const { stdout } = spawnSync(command, args, { encoding: 'utf8', timeout: ANSWER_MS });
    if (typeof stdout !== 'string') continue;
    if (yes.test(stdout)) return true;
    if (no.test(stdout)) return false;
  }
  return null;
}
