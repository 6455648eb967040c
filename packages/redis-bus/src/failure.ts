import { SquallError } from '@squall/core/errors';
import type { RedisAddress } from './address.ts';

/** What Redis answers or a socket reports, by its beginning, and what can be done about it. */
const MEANINGS: readonly (readonly [pattern: RegExp, means: string, hint: string])[] = [
  [
    /^(WRONGPASS|ERR invalid password|ERR Client sent AUTH)/,
    'the password, or the user name, is wrong',
    'check the address; characters such as @ / # in a password must be percent-encoded',
  ],
  [
    /^NOAUTH|called without (any )?password|HELLO must be called with the client already auth/,
    'it wants a password',
    'write it into the address: redis://:password@host:6379',
  ],
  [
    /^NOPERM/,
    'the user may not do what the bus needs',
    'allow it +@stream +@scripting +@connection +del +unlink +exists +pexpire +info on the keys squall:*',
  ],
  [
    /^OOM/,
    'it is full: its maxmemory is reached',
    'give it more memory or remove what fills it; frames wait in the agents meanwhile',
  ],
  [/^LOADING/, 'it is still loading its data from disk', 'it becomes ready by itself'],
  [
    /^MISCONF/,
    'it cannot save its data to disk and refuses to be written to',
    'see its log, or set stop-writes-on-bgsave-error no',
  ],
  [/^READONLY/, 'it is a replica', 'give the address of the primary'],
  [
    /^(MOVED|CROSSSLOT|CLUSTERDOWN)/,
    'it is part of a cluster',
    'the bus needs a single server (or a primary with replicas)',
  ],
  [/ECONNREFUSED/, 'nothing listens there', 'start it, or correct the address'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name is not known', 'correct the address'],
  [/EHOSTUNREACH|ENETUNREACH/, 'there is no way to its host', 'correct the address'],
  [
    /^no answer|ETIMEDOUT/,
    'it does not answer',
    'look whether it is overloaded, paused, behind a firewall, or speaks no TLS on this port (rediss://)',
  ],
  [
    /certificate|ERR_TLS|self.signed|SSL|wrong version number|packet length too long/i,
    'the TLS handshake failed',
    'rediss:// needs a TLS port with a certificate that fits the host; NODE_EXTRA_CA_CERTS names a file with other authorities',
  ],
  [
    /closed|ECONNRESET|EPIPE|aborted/i,
    'it closed the connection',
    'redis:// to a TLS port looks like that, too; else see its log',
  ],
];

/** A shorter password would be found within ordinary words. */
const SHORT = 4;

/**
 * Turns what the library throws into an error of ours. The library's own error is dropped: it holds
 * the command with its arguments, and with it the password or a frame.
 */
export function busFailure(address: RedisAddress, thrown: unknown): SquallError {
  if (thrown instanceof SquallError) return thrown;
  const words = wordsOf(thrown);
  const known = MEANINGS.find(([pattern]) => pattern.test(words));
  const [, means, hint] = known ?? [null, 'it failed', undefined];
  const told = `${means} (${scrubbed(address, words)})`;
  return new SquallError('SQ_BUS', `Redis at ${address.shown}: ${told}`, {
    path: address.shown,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** An error of the bus that is no answer of the server. */
export function busError(address: RedisAddress, means: string, hint?: string): SquallError {
  return new SquallError('SQ_BUS', `Redis at ${address.shown}: ${means}`, {
    path: address.shown,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The innermost words: a refused connection to a name of two addresses is an error of errors. */
function wordsOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0)
    return wordsOf(thrown.errors[0]);
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** No answer of a server is known to repeat a password; this makes sure of any that is worth it. */
function scrubbed({ password }: RedisAddress, text: string): string {
  return password === null || password.length < SHORT ? text : text.replaceAll(password, '…');
}
