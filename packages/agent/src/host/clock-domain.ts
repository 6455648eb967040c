import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Boot id and time namespace: processes with the same pair read one monotonic clock. */
export function clockDomain(proc = '/proc'): string {
  const boot = textOr(() => readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim());
  if (boot === null) return `host ${hostname()}`;
  return `${boot} ${textOr(() => readlinkSync(`${proc}/self/ns/time`)) ?? 'time:[none]'}`;
}

function textOr(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
