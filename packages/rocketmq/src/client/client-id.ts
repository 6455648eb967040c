import { randomBytes } from 'node:crypto';

/**
 * An id that nobody else has: two members of a group with one id would each take the same queues.
 */
export function newClientId(): string {
  return `squall@${process.pid}#${randomBytes(6).toString('hex')}`;
}
