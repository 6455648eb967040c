import { responseName } from './response-code.ts';

/**
 * What went wrong between us and a name server or broker. Match on `code`; `responseCode` is the
 * peer's own number where it answered (`ResponseCode`), `address` is who was asked.
 */
export class RocketmqError extends Error {
  override readonly name = 'RocketmqError';
  readonly code: RocketmqErrorCode;
  readonly responseCode: number | undefined;
  readonly address: string | undefined;
  readonly hint: string | undefined;

  constructor(code: RocketmqErrorCode, message: string, options: RocketmqErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.responseCode = options.responseCode;
    this.address = options.address;
    this.hint = options.hint;
  }
}

export interface RocketmqErrorOptions {
  readonly responseCode?: number;
  readonly address?: string;
  readonly hint?: string;
  readonly cause?: unknown;
}

export type RocketmqErrorCode =
  | 'FRAME' // bytes that are no remoting frame
  | 'HEADER' // a frame whose header cannot be read
  | 'RECORD' // bytes that are no stored message
  | 'TEXT' // a body that is no JSON, strict or lenient
  | 'ANSWER' // the peer answered with a code that is no success
  | 'TIMEOUT' // no answer within the time
  | 'CLOSED' // the connection was lost before the answer
  | 'CONNECT' // no connection could be made
  | 'ROUTE' // the topic has no route, or none that can be used
  | 'ARGUMENT'; // a name, number or combination that no broker takes

/** The error of an answer that is no success: the code's name and the peer's own words. */
export function answerError(answer: {
  readonly code: number;
  readonly remark: string | null;
  readonly address: string;
}): RocketmqError {
  const words = answer.remark === null || answer.remark === '' ? '' : `: ${oneLine(answer.remark)}`;
  return new RocketmqError(
    'ANSWER',
    `${answer.address} answered ${responseName(answer.code)}${words}`,
    {
      responseCode: answer.code,
      address: answer.address,
    },
  );
}

/** Remarks may hold whole Java stacks. */
const REMARK_LENGTH_MAX = 300;

function oneLine(remark: string): string {
  const line = remark.replaceAll(/\s+/g, ' ').trim();
  return line.length > REMARK_LENGTH_MAX ? `${line.slice(0, REMARK_LENGTH_MAX)}…` : line;
}
