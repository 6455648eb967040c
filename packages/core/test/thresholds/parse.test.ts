import { SquallError } from '@squall/core/errors';
import { parseThreshold, readThreshold, scaleThreshold } from '@squall/core/thresholds';
import { describe, expect, it } from 'vitest';

function failure(run: () => unknown): SquallError {
  try {
    run();
  } catch (error) {
    if (error instanceof SquallError) return error;
    throw error;
  }
  throw new Error('no error was thrown');
}

describe('a threshold line', () => {
  it('is read with every part of the grammar', () => {
    const parsed = parseThreshold(
      'publish_time{group=devices, stream!=heartbeat, reason=~"no.*"}: p(99.9) < 500ms and max <= 2s over 10s for 3 in publish|peak slo 99%, abort after 30s',
    );
    expect(parsed).toMatchObject({
      metric: 'publish_time',
      tags: [
        { key: 'group', op: '=', value: 'devices' },
        { key: 'stream', op: '!=', value: 'heartbeat' },
        { key: 'reason', op: '=~', value: 'no.*' },
      ],
      terms: [
        {
          aggregate: 'p',
          percentile: 99.9,
          op: '<',
          literal: { kind: 'duration', value: 500_000, text: '500ms' },
        },
        {
          aggregate: 'max',
          percentile: null,
          op: '<=',
          literal: { kind: 'duration', value: 2_000_000 },
        },
      ],
      overUs: 10_000_000,
      forWindows: 3,
      stages: ['publish', 'peak'],
      slo: 0.99,
      onBreach: 'abort',
      afterUs: 30_000_000,
    });
  });

  it('takes the modifiers in any order, with or without commas', () => {
    const one = parseThreshold('sent: rate > 28k/s over 10s for 3 in a, warn after 5s');
    const two = parseThreshold('sent:rate>28k/s after 5s warn in a for 3 over 10s');
    expect({ ...two, text: one.text, columns: one.columns, terms: [] }).toEqual({
      ...one,
      terms: [],
    });
  });

  it('counts a duration after for in windows, rounded up', () => {
    expect(parseThreshold('sent: count > 0 over 10s for 30s').forWindows).toBe(3);
    expect(parseThreshold('sent: count > 0 over 10s for 31s').forWindows).toBe(4);
    expect(parseThreshold('sent: count > 0 over 10s for 1s').forWindows).toBe(1);
  });

  it.each([
    ['sent: count == 0', 'count', 0],
    ['sent: count < 2M', 'count', 2_000_000],
    ['bytes_sent: count >= 100GB', 'size', 100e9],
    ['bytes_sent: rate >= 10MB/s', 'byte_rate', 10e6],
    ['sent: rate >= 12/m', 'rate', 0.2],
    ['connect_failed: share < 0.1%', 'share', 0.001],
    ['publish_time: max < 1m', 'duration', 60_000_000],
    ['connections: avg > 99.5', 'count', 99.5],
    ['connections: delta > -5', 'count', -5],
  ])('tells the kind of value by its unit: %s', (text, kind, value) => {
    expect(parseThreshold(text).terms[0]?.literal).toMatchObject({ kind, value });
  });

  it.each([
    ['', 1],
    ['sent', 5],
    ['sent count == 0', 6],
    ['sent: p99 < 1s', 8],
    ['sent: foo < 1s', 7],
    ['sent: p(0) < 1s', 9],
    ['sent: p(101) < 1s', 9],
    ['sent: p(99 < 1s', 12],
    ['sent: count = 0', 13],
    ['sent: count == ', 16],
    ['sent: count == 5parsecs', 16],
    ['sent: count === 0', 15],
    ['sent: count == 0 and', 21],
    ['sent: count > 0 and count < 9 and count < 8', 31],
    ['sent: count > 0 overr 10s', 17],
    ['sent: count > 0 over 10', 22],
    ['sent: count > 0 over 0s', 22],
    ['sent: count > 0 over 10s over 20s', 26],
    ['sent: count > 0 over 10s for 0', 30],
    ['sent: count > 0 for 3', 17],
    ['sent: count > 0 slo 99%', 17],
    ['sent: count > 0 abort', 17],
    ['sent: count > 0 after 5s', 17],
    ['sent: count > 0 over 10s slo 101%', 30],
    ['sent: count > 0 over 10s abort warn', 32],
    ['sent: count > 0 in', 19],
    ['sent: count > 0 in a|', 22],
    ['sent: count > 0 in a b', 22],
    ['sent{group}: count > 0', 11],
    ['sent{group=: count > 0', 23],
    ['sent{group=a: count > 0', 24],
    ['sent{group=~[}: count > 0', 6],
    ['sent: count > 0 # nothing', 17],
    ['sent: count > 0,', 17],
  ])('points at the place of the error: %s', (text, column) => {
    const error = failure(() => parseThreshold(text));
    expect(error.code).toBe('SQ_THRESHOLD');
    expect(error.column, error.message).toBe(column);
  });

  it('is not read beyond a bounded length', () => {
    expect(failure(() => parseThreshold(`sent: count > ${'9'.repeat(2000)}`)).code).toBe(
      'SQ_THRESHOLD',
    );
  });
});

describe('the long form', () => {
  it('says the same as the line, and more', () => {
    const { spec, parsed } = readThreshold({
      id: 'latency',
      metric: 'publish_time',
      tags: { group: 'devices' },
      expect: 'p(99) < 500ms',
      over: '10s',
      for: 3,
      stages: ['publish', 'peak'],
      slo: '99%',
      on_breach: 'abort',
      after: '30s',
      no_data: 'warn',
      min_samples: 100,
    });
    expect(spec).toEqual({
      text: 'publish_time{group="devices"}: p(99) < 500ms over 10s for 3 in publish|peak slo 99% abort after 30s',
      id: 'latency',
      noData: 'warn',
      minSamples: 100,
    });
    expect(parsed).toEqual(parseThreshold(spec.text));
  });

  it('takes abort and warn as switches, and one stage without a list', () => {
    const entry = { metric: 'sent', expect: 'count > 0', over: '1s', stages: 'a', abort: true };
    expect(readThreshold(entry).parsed).toMatchObject({ onBreach: 'abort', stages: ['a'] });
    expect(readThreshold({ metric: 'sent', expect: 'count > 0', warn: true }).parsed.onBreach).toBe(
      'warn',
    );
  });

  it('reads a line whose quotes were forgotten in YAML', () => {
    expect(readThreshold({ publish_failed: 'count == 0' }).spec.text).toBe(
      'publish_failed: count == 0',
    );
  });

  it.each([
    [{ expect: 'count > 0' }, 'metric'],
    [{ metric: 'sent' }, 'expect'],
    [{ metric: 'sent', expect: 'count >' }, 'expect'],
    [{ metric: 'sent', expect: 'count > 0', ovr: '1s' }, 'ovr'],
    [{ metric: 'sent', expect: 'count > 0', over: '10' }, 'over'],
    [{ metric: 'sent', expect: 'count > 0', over: '1s', for: 'x' }, 'for'],
    [{ metric: 'sent', expect: 'count > 0', no_data: 'maybe' }, 'no_data'],
    [{ metric: 'sent', expect: 'count > 0', min_samples: 0 }, 'min_samples'],
    [{ metric: 'sent', expect: 'count > 0', on_breach: 'explode' }, 'on_breach'],
    [{ metric: 'sent', expect: 'count > 0', stages: [] }, 'stages'],
  ])('names the key of the error: %j', (entry, path) => {
    const error = failure(() => readThreshold(entry));
    expect(error.code).toBe('SQ_THRESHOLD');
    expect(error.path).toBe(path);
  });

  it.each([[null], [5], [['sent: count > 0']], [{ a: 1, b: 2 }]])('refuses %j', (entry) => {
    expect(failure(() => readThreshold(entry)).code).toBe('SQ_THRESHOLD');
  });
});

describe('scaling', () => {
  it.each([
    ['published: rate > 28k/s in cold-read', 0.01, 'published: rate > 0.28k/s in cold-read'],
    ['published: rate > 1/h', 0.0000001, 'published: rate > 0.0000001/h'],
    ['acked: count >= 1000', 0.01, 'acked: count >= 10'],
    ['acked: count >= 150', 0.01, 'acked: count >= 2'],
    ['acked: count >= 2M', 0.01, 'acked: count >= 20000'],
    ['acked: count >= 3', 0.01, 'acked: count >= 1'],
    ['bytes_sent: count >= 100GB', 0.01, 'bytes_sent: count >= 1000000000B'],
    ['sent: count > 100 and rate < 10/s', 0.1, 'sent: count > 10 and rate < 1/s'],
  ])('changes rates and counts: %s', (text, factor, scaled) => {
    expect(scaleThreshold(text, factor)).toEqual({ text: scaled, changed: true });
    expect(() => parseThreshold(scaled)).not.toThrow();
  });

  it.each([
    'publish_failed: count == 0',
    'publish_time: p(99) < 500ms over 10s for 3',
    'connect_failed: share < 1%',
    'connections: max <= 100',
  ])('leaves %s alone', (text) => {
    expect(scaleThreshold(text, 0.01)).toEqual({ text, changed: false });
  });
});
