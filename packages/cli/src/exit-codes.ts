import { type ErrorCode, SquallError } from '@squall/core/errors';

/** Exit codes that no report decides; those of a finished run come from its report. */
export const EXIT = {
  ok: 0,
  internal: 1,
  usage: 2,
  planInvalid: 104,
  /** The broker does not do what the plan wants of it. */
  fail: 99,
  /** It could not be seen whether it does. */
  inconclusive: 112,
  agents: 113,
  /** Ended by a signal before there was a report to take the code from. */
  signal: 105,
  /** The wait for a run ended before the run. */
  waitTimeout: 114,
} as const;

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  SQ_USAGE: EXIT.usage,
  SQ_OUTPUT: EXIT.usage,
  SQ_LISTEN: EXIT.usage,
  SQ_STORE: EXIT.usage,
  SQ_REQUEST: EXIT.usage,
  SQ_NOT_FOUND: EXIT.usage,
  SQ_STATE: EXIT.usage,
  SQ_REMOTE: EXIT.usage,
  SQ_UNIT: EXIT.planInvalid,
  SQ_PLAN: EXIT.planInvalid,
  SQ_UNSUPPORTED: EXIT.planInvalid,
  SQ_THRESHOLD: EXIT.planInvalid,
  SQ_TOKEN: EXIT.agents,
  SQ_CONTROL: EXIT.agents,
  SQ_AGENTS: EXIT.agents,
  SQ_BUS: EXIT.agents,
  SQ_CAPACITY: EXIT.agents,
};

/** The exit code of a command that ended by this error. */
export function exitCodeOf(error: unknown): number {
  return (error instanceof SquallError ? BY_CODE[error.code] : undefined) ?? EXIT.internal;
}
