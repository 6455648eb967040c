import { probeErrorOf } from '../error-reason.ts';
import { ProbeError } from '../probe.ts';

const MAX_DETAIL = 300;

export interface SqlProbeOptions {
  /** With its secrets filled in. */
  readonly url: string;
  /** One SELECT. */
  readonly query: string;
}

/**
 * The query as it is sent. Within another one it can be nothing but a SELECT, whatever its quotes mean to
 * this server; and of an answer of millions of rows only as many come as tell that it was not one.
 */
export function boundedQuery({ query }: SqlProbeOptions): string {
  return `SELECT * FROM (${query.trim().replace(/;$/, '')}) AS squall LIMIT 2`;
}

/** Settles when a reading is called off: neither library lets go of a query by itself. */
export function calledOff(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const tell = () => reject(new ProbeError('timed out'));
    if (signal.aborted) tell();
    else signal.addEventListener('abort', tell, { once: true });
  });
}

/** What a server of SQL says names users and hosts, and no passwords. */
export function sqlError(error: unknown): ProbeError {
  const known = probeErrorOf(error);
  if (error instanceof ProbeError || !(error instanceof Error)) return known;
  return new ProbeError(known.reason, error.message.slice(0, MAX_DETAIL), error);
}
