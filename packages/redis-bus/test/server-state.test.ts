import { describe, expect, it } from 'vitest';
import { parseRedisAddress } from '../src/address.ts';
import { REDIS_LIMITS } from '../src/limits.ts';
import { mustBeFit, readState, type ServerState, warningsOf } from '../src/server-state.ts';

const ADDRESS = parseRedisAddress('redis://h');
const FIT: ServerState = {
  version: '7.0.15',
  runId: 'abc',
  role: 'master',
  mode: 'standalone',
  policy: 'noeviction',
  usedBytes: 1_000_000,
  maxBytes: 0,
};

describe('the state of a server', () => {
  it('is read from INFO', () => {
    const info = [
      '# Server',
      'redis_version:7.0.15',
      'redis_mode:standalone',
      'run_id:abc',
      '# Memory',
      'used_memory:1000000',
      'used_memory_human:976.56K',
      'maxmemory:0',
      'maxmemory_policy:noeviction',
      '# Replication',
      'role:master',
      '',
    ].join('\r\n');
    expect(readState(info)).toEqual(FIT);
  });

  it('is all unknown where INFO is forbidden', () => {
    expect(new Set(Object.values(readState('')))).toEqual(new Set([null]));
  });
});

describe('a server is fit', () => {
  it.each<[string, Partial<ServerState>]>([
    ['of the oldest version that will do', { version: '6.2.0' }],
    ['with a limit and room', { maxBytes: 2_000_000 }],
    ['with an evicting policy that can never come to work', { policy: 'allkeys-lru' }],
    ['that says nothing of itself', readState('')],
  ])('%s', (_what, part) => {
    expect(() => mustBeFit({ ...FIT, ...part }, ADDRESS)).not.toThrow();
  });

  it.each<[string, Partial<ServerState>, string]>([
    ['that evicts', { policy: 'volatile-ttl', maxBytes: 9e9 }, 'throws keys away'],
    ['that is full', { maxBytes: 1_000_000 }, 'it is full: 1.0 MiB of 1.0 MiB'],
    ['that is a replica', { role: 'slave' }, 'it is a replica'],
    ['of a cluster', { mode: 'cluster' }, 'part of a cluster'],
    ['that is too old', { version: '6.0.16' }, 'it is version 6.0.16'],
  ])('but not one %s', (_what, part, words) => {
    expect(() => mustBeFit({ ...FIT, ...part }, ADDRESS)).toThrow(
      expect.objectContaining({
        code: 'SQ_BUS',
        message: expect.stringContaining(words),
        hint: expect.any(String),
      }),
    );
  });
});

describe('a warning is worth', () => {
  it('nothing where all is well', () => {
    expect(warningsOf(FIT, REDIS_LIMITS)).toEqual([]);
  });

  it.each<[string, Partial<ServerState>, RegExp]>([
    ['an evicting policy', { policy: 'allkeys-lfu' }, /allkeys-lfu.*as soon as it gets/],
    ['memory that is nearly full', { maxBytes: 1_050_000 }, /1\.0 MiB of its 1\.0 MiB/],
    ['a policy that cannot be read', { policy: null }, /INFO is forbidden/],
  ])('%s', (_what, part, words) => {
    expect(warningsOf({ ...FIT, ...part }, REDIS_LIMITS)).toEqual([expect.stringMatching(words)]);
  });
});
