import { readFileSync } from 'node:fs';
import { RESERVED_DESCRIPTORS } from './limits.ts';

/**
 * How many descriptors this process may hold, from the text of `/proc/self/limits`; Infinity where
 * it does not say. Node raises the soft limit to the hard one by itself.
 */
export function descriptorLimit(limits: string): number {
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  const limit = Number(soft);
  return soft === undefined || soft === 'unlimited' || Number.isNaN(limit)
    ? Number.POSITIVE_INFINITY
    : limit;
}

/** Why this process cannot hold `clients` connections, or null where it can. */
export function descriptorShortage(clients: number, limit: number): string | null {
  const needed = clients + RESERVED_DESCRIPTORS;
  if (needed <= limit) return null;
  return (
    `${clients} clients need ${needed} file descriptors in one worker, its limit is ${limit}: ` +
    'raise the open-files limit (ulimit -n), start more workers or add agents'
  );
}

/** The descriptor limit of this process; Infinity on hosts without `/proc`. */
export function ownDescriptorLimit(): number {
  try {
    return descriptorLimit(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
