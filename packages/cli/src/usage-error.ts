import { SquallError } from '@squall/core/errors';

/** What was wrong on the command line, and what to write instead. */
export function usage(message: string, hint: string): SquallError {
  return new SquallError('SQ_USAGE', message, { hint });
}
