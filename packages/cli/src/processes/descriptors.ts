import { readFileSync } from 'node:fs';

/*
 * Read before anything else is: with too few descriptors Node fails to load modules, by errors that
 * name whichever file came last, or call a package missing that is there. So this imports nothing.
 */

/** While modules are loaded nearly 130 files are open at once; the rest is for what may be added. */
const LOADING = 192;
/** Streams, event loop, ports, the report, and what agents of other machines need. */
const OWN = 64;
/** Of a child: both of its output streams, its channel, and its link to the controller. */
const PER_CHILD = 4;

/** What a person must know and do. */
export interface Shortage {
  readonly message: string;
  readonly hint: string;
}

/** How many descriptors this process may hold; Infinity where the system does not say. */
export function descriptorLimit(limitsFile = '/proc/self/limits'): number {
  try {
    // Node has raised the soft limit to the hard one before this is read.
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(limitsFile, 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch (error) {
    // Not even one more can be opened.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'EMFILE' ? 0 : Number.POSITIVE_INFINITY;
  }
}

/** Null where there are enough to load a command at all. */
export function loadingShortage(limit: number): Shortage | null {
  return shortage('squall needs', LOADING, limit);
}

/** Null where there are enough for a run with so many processes of its own, agents and broker. */
export function runShortage(agents: number, children: number, limit: number): Shortage | null {
  const what = `a run of ${agents} agent${agents === 1 ? '' : 's'} on this machine needs`;
  return shortage(what, Math.max(LOADING, OWN + PER_CHILD * children), limit);
}

function shortage(what: string, needed: number, limit: number): Shortage | null {
  if (limit >= needed) return null;
  const has = limit === 0 ? 'there are none left' : `this process may hold ${limit}`;
  return {
    message: `too few file descriptors: ${what} ${needed}, ${has}`,
    hint: `raise the limit with \`ulimit -n ${needed}\` in this shell; where that is forbidden, raise the system's hard limit first`,
  };
}
