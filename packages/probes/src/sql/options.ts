import { probeErrorOf } from '../error-reason.ts';
import { ProbeError } from '../probe.ts';

const MAX_DETAIL = 300;

export interface SqlProbeOptions {
  /** With its secrets filled in. */
  readonly url: string;
  /** One SELECT. */
  readonly query: string;
}

/** What a server of SQL says names users and hosts, and no passwords. */
export function sqlError(error: unknown): ProbeError {
  const known = probeErrorOf(error);
  if (error instanceof ProbeError || !(error instanceof Error)) return known;
  return new ProbeError(known.reason, error.message.slice(0, MAX_DETAIL), error);
}
