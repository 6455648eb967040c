import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseRedisAddress } from '../src/address.ts';
import { busFailure } from '../src/failure.ts';

const ADDRESS = parseRedisAddress('redis://me:hunter22@h:1');

describe('a failure of Redis', () => {
  it.each([
    ['WRONGPASS invalid username-password pair or user is disabled.', 'the password'],
    ['NOAUTH Authentication required.', 'wants a password'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'it is full'],
    ['LOADING Redis is loading the dataset in memory', 'still loading'],
    ["READONLY You can't write against a read only replica.", 'replica'],
    ['MOVED 3999 127.0.0.1:6381', 'cluster'],
    ['NOPERM this user has no permissions', 'may not do'],
    ['MISCONF Redis is configured to save RDB snapshots', 'cannot save'],
    ['connect ECONNREFUSED 127.0.0.1:1', 'nothing listens'],
    ['getaddrinfo ENOTFOUND nowhere', 'host name'],
    ['no answer within 5 s', 'does not answer'],
    ['self-signed certificate', 'TLS handshake'],
    ['Connection is closed.', 'closed the connection'],
  ])('%j is told by what it means, with what can be done', (raw, meaning) => {
    const failure = busFailure(ADDRESS, new Error(raw));
    expect(failure).toMatchObject({ code: 'SQ_BUS', path: 'redis://me:…@h:1' });
    expect(failure.message).toContain(meaning);
    expect(failure.message).toContain(raw);
    expect(failure.hint).not.toBe(undefined);
  });

  it('of all addresses of a name is told by the first', () => {
    const all = new AggregateError([new Error('connect ECONNREFUSED ::1:1'), new Error('other')]);
    expect(busFailure(ADDRESS, all).message).toContain('nothing listens');
  });

  it('drops the error of the library, which holds the command and the password', () => {
    const thrown = Object.assign(new Error('WRONGPASS no hunter22 here'), {
      command: { name: 'auth', args: ['me', 'hunter22'] },
    });
    expect(inspect(busFailure(ADDRESS, thrown), { depth: 9, showHidden: true })).not.toContain(
      'hunter22',
    );
  });
});
