import { SquallError } from '@squall/core/errors';

/** The body of a request that takes text. @throws SquallError SQ_REQUEST */
export function textOf(body: unknown): string {
  if (typeof body === 'string' && body.includes('\0')) {
    throw new SquallError('SQ_REQUEST', 'there is a NUL in the text');
  }
  if (typeof body === 'string' && body.trim() !== '') return body;
  throw new SquallError('SQ_REQUEST', 'the body is empty', {
    hint: 'send the plan as the body: curl --data-binary @plan.yaml',
  });
}
