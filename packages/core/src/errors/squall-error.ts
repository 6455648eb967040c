/**
 * The one error class of the project. Match on `code`, never on the message: codes are stable API.
 *
 * `hint` says what to do next; `path` names the place (a plan path such as `groups.devices.publish`,
 * a file, an address). Everything a person needs stands in the error itself.
 */
export class SquallError extends Error {
  override readonly name = 'SquallError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly path: string | undefined;
  /** Of a one-line text such as a threshold, from 1. */
  readonly column: number | undefined;

  constructor(code: ErrorCode, message: string, options: SquallErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.path = options.path;
    this.column = options.column;
  }
}

export interface SquallErrorOptions {
  readonly hint?: string;
  readonly path?: string;
  readonly column?: number;
  readonly cause?: unknown;
}

/** Every code that leaves the project. New codes are added here, documented, and never renamed. */
export type ErrorCode =
  | 'SQ_UNIT' // a value without its unit, or with one of the wrong kind
  | 'SQ_PLAN' // the plan cannot be read or is not valid
  | 'SQ_UNSUPPORTED' // described in the plan language, not built in this version
  | 'SQ_THRESHOLD' // a threshold line that cannot be parsed or does not fit its metric
  | 'SQ_USAGE' // a command line that cannot be understood
  | 'SQ_OUTPUT' // a report or another file could not be written
  | 'SQ_CONTROL' // a control message that does not fit the protocol
  | 'SQ_TOKEN' // the join token is wrong or missing
  | 'SQ_AGENTS' // too few agents, or an agent refused its share
  | 'SQ_CAPACITY' // not enough descriptors, ports or memory for a share
  | 'SQ_LISTEN' // an address could not be bound
  | 'SQ_BUS' // the bus cannot be reached, refuses to work, or is not fit for measurements
  | 'SQ_FRAME' // a measurement frame that is not well formed
  | 'SQ_TIMEOUT' // a state passed its deadline
  | 'SQ_STORE' // the store is locked, full, read-only, damaged, or no store
  | 'SQ_REQUEST' // a request to the REST API that cannot be understood, or not from there
  | 'SQ_NOT_FOUND' // no plan, run or path of that name
  | 'SQ_STATE' // not possible in the state that the run is in, or no more what it was
  | 'SQ_BUSY' // a queue of the controller is full: later
  | 'SQ_REMOTE' // a controller that cannot be reached, or answers as none would
  | 'SQ_INTERNAL'; // a fault of ours

/** Each code once, for `isErrorCode`: the compiler sees that none is missing. */
const CODES: Readonly<Record<ErrorCode, true>> = {
  SQ_UNIT: true,
  SQ_PLAN: true,
  SQ_UNSUPPORTED: true,
  SQ_THRESHOLD: true,
  SQ_USAGE: true,
  SQ_OUTPUT: true,
  SQ_CONTROL: true,
  SQ_TOKEN: true,
  SQ_AGENTS: true,
  SQ_CAPACITY: true,
  SQ_LISTEN: true,
  SQ_BUS: true,
  SQ_FRAME: true,
  SQ_TIMEOUT: true,
  SQ_STORE: true,
  SQ_REQUEST: true,
  SQ_NOT_FOUND: true,
  SQ_STATE: true,
  SQ_BUSY: true,
  SQ_REMOTE: true,
  SQ_INTERNAL: true,
};

/** Whether a text that came from outside is one of our codes. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(CODES, text);
}
