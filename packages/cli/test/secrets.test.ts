import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { redisOf } from '../src/redis-options.ts';
import { joinToken } from '../src/token.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'squall-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function secret(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('secrets in files', () => {
  test('the token of a file goes before the other, without the newline at its end', () => {
    expect(joinToken({ token: 'one', tokenFile: secret('token', 'two\n') })).toBe('two');
    expect(joinToken({ token: 'one' })).toBe('one');
    expect(() => joinToken({ tokenFile: secret('empty', '\n') })).toThrow(
      'the token file is empty',
    );
  });

  test('the password of Redis reaches its address whole, whatever is in it', () => {
    const password = 'p@:/#?%ü"s';
    const { redis } = redisOf({
      redis: 'redis://redis:6379',
      redisForAgents: 'rediss://user@elsewhere:1',
      redisPasswordFile: secret('password', password),
    });
    const addresses = [redis?.url, redis?.urlForAgents].map((address) => new URL(address ?? ''));
    expect(addresses.map((url) => decodeURIComponent(url.password))).toEqual([password, password]);
    expect(addresses.map(({ host, username }) => [host, username])).toEqual([
      ['redis:6379', ''],
      ['elsewhere:1', 'user'],
    ]);
  });

  test('two passwords of Redis, or none in the file, are refused', () => {
    const redisPasswordFile = secret('other', 'x');
    expect(() => redisOf({ redis: 'redis://:y@redis', redisPasswordFile })).toThrow(
      'has a password, and so has the file',
    );
    expect(() => redisOf({ redis: 'redis://redis', redisPasswordFile: '/nowhere/at/all' })).toThrow(
      'the password file cannot be read',
    );
  });
});
