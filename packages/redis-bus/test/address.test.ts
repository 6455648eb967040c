import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRedisAddress } from '../src/address.ts';

describe('the address of a Redis', () => {
  it('has defaults for everything but the host', () => {
    expect(parseRedisAddress('redis://cache.example')).toEqual({
      host: 'cache.example',
      port: 6379,
      tls: false,
      username: null,
      password: null,
      db: 0,
      shown: 'redis://cache.example:6379',
    });
  });

  it.each([
    ['rediss://h:1/3', { tls: true, port: 1, db: 3, shown: 'rediss://h:1/3' }],
    ['redis://:pw@h', { username: null, password: 'pw', shown: 'redis://:…@h:6379' }],
    ['redis://me:pw@h', { username: 'me', password: 'pw', shown: 'redis://me:…@h:6379' }],
    ['redis://me@h', { username: 'me', password: '', shown: 'redis://me@h:6379' }],
    ['redis://[::1]:7000', { host: '::1', port: 7000, shown: 'redis://[::1]:7000' }],
    ['redis://:p%40ss%2Fw%23rd@h', { password: 'p@ss/w#rd' }],
  ])('reads %s', (text, expected) => {
    expect(parseRedisAddress(text)).toMatchObject(expected);
  });

  it.each([
    '',
    'localhost:6379',
    'http://h',
    'redis://',
    'redis:///0',
    'redis://h/zero',
    'redis://h/0/1',
    'redis://h?db=1',
    'redis://:p#w@h',
    'redis://:%zz@h',
    'redis://h:99999',
    'redis://h /0',
  ])('refuses %j, with how to write it', (text) => {
    expect(() => parseRedisAddress(text)).toThrow(
      expect.objectContaining({ code: 'SQ_USAGE', hint: expect.stringContaining('redis://') }),
    );
  });

  it('never repeats the password, in whatever it shows or refuses', () => {
    // The beginning is in none of our texts.
    const password = fc.string({ minLength: 1, maxLength: 20 }).map((text) => `qZ7${text}`);
    fc.assert(
      fc.property(password, fc.boolean(), (secret, escaped) => {
        const written = escaped ? encodeURIComponent(secret) : secret;
        expect(saidOf(`redis://user:${written}@host:6379/0`)).not.toContain('qZ7');
      }),
    );
  });
});

function saidOf(text: string): string {
  try {
    return parseRedisAddress(text).shown;
  } catch (error) {
    return inspect(error, { depth: 9, showHidden: true });
  }
}
