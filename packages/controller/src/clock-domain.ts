import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Where the system's files are read from; another root stands in for a host without /proc. */
const PROC = '/proc';

/**
 * Boot id and time namespace: processes with the same pair read one CLOCK_MONOTONIC, whether they run
 * side by side or one after the other. Where the system does not say, the host's name has to do.
 */
export function clockDomain(proc = PROC): string {
  try {
    const boot = readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim();
    return `${boot} ${timeNamespace(proc)}`;
  } catch {
    return `host ${hostname()}`;
  }
}

function timeNamespace(proc: string): string {
  try {
    return readlinkSync(`${proc}/self/ns/time`);
  } catch {
    return 'time:[none]';
  }
}
