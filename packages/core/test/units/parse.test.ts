import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SquallError } from '../../src/errors/index.ts';
import {
  parseByteRate,
  parseCount,
  parseDuration,
  parseRate,
  parseShare,
  parseSize,
} from '../../src/units/index.ts';

function errorOf(run: () => unknown): SquallError {
  try {
    run();
  } catch (error) {
    if (error instanceof SquallError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('durations', () => {
  test.each([
    ['500us', 500],
    ['500µs', 500],
    ['200ms', 200_000],
    ['2.3ms', 2_300],
    ['2s', 2_000_000],
    ['5m', 300_000_000],
    ['1h', 3_600_000_000],
    ['1h30m', 5_400_000_000],
    ['0s', 0],
    [' 1s ', 1_000_000],
  ])('%s', (text, us) => expect(parseDuration(text)).toBe(us));

  test.each(['1 s', '30m1h', '1s1s', '-1s', '1e3s', '1S', '1d', 's', '1.s', '.5s', '1ss', '0x1s'])(
    '%s is refused',
    (text) => expect(errorOf(() => parseDuration(text)).code).toBe('SQ_UNIT'),
  );
});

describe('sizes', () => {
  test.each([
    ['200B', 200],
    ['1KB', 1_000],
    ['1KiB', 1_024],
    ['1.5KB', 1_500],
    ['100GB', 100_000_000_000],
    ['0.5KiB', 512],
    ['2TiB', 2 * 1024 ** 4],
  ])('%s', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  test.each(['1kb', '1K', '1.5B', '200', '-1B', '1__proto__', '1constructor'])(
    '%s is refused',
    (text) => expect(errorOf(() => parseSize(text)).code).toBe('SQ_UNIT'),
  );
});

describe('rates, counts and shares', () => {
  test.each([
    ['2000/s', 2_000],
    ['12/m', 0.2],
    ['50k/s', 50_000],
    ['36/h', 0.01],
    ['1.1k/s', 1_100],
  ])('rate %s', (text, perS) => expect(parseRate(text)).toBe(perS));

  test.each(['2000', '2000/d', '/s', '1K/s', '5/ s'])('rate %s is refused', (text) =>
    expect(errorOf(() => parseRate(text)).code).toBe('SQ_UNIT'),
  );

  test('byte rates', () => expect(parseByteRate('10MB/s')).toBe(10_000_000));

  test.each([
    ['100k', 100_000],
    ['2M', 2_000_000],
    ['1.1k', 1_100],
    ['7', 7],
    [7, 7],
  ])('count %s', (input, count) => expect(parseCount(input)).toBe(count));

  test.each(['1.5', 'k', '1kk', '1 k', '', -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300])(
    'count %s is refused',
    (input) => expect(errorOf(() => parseCount(input)).code).toBe('SQ_UNIT'),
  );

  test('shares', () => {
    expect(parseShare('99.9%')).toBe(0.999);
    expect(parseShare('0%')).toBe(0);
    expect(errorOf(() => parseShare('101%')).code).toBe('SQ_UNIT');
    expect(errorOf(() => parseShare(0.5)).code).toBe('SQ_UNIT');
  });
});

describe('a bare number where a unit is needed', () => {
  test.each([
    [parseDuration, 'us, ms, s, m, h'],
    [parseSize, 'B, KB, MB, GB, TB, KiB, MiB, GiB, TiB'],
    [parseRate, '/s, /m, /h'],
    [parseByteRate, 'MB/s'],
    [parseShare, '%'],
  ])('%o names the units', (parse, units) => {
    for (const input of [5, '5', '0.5', Number.NaN]) {
      const error = errorOf(() => parse(input));
      expect(error.hint).toContain(units);
    }
    expect(errorOf(() => parse(5)).message).toBe('5 has no unit');
    expect(errorOf(() => parse('5')).message).toBe('5 has no unit');
  });
});

test('hostile values end in one error each, never in NaN, infinity or a hang', () => {
  const parsers = [parseDuration, parseSize, parseRate, parseByteRate, parseCount, parseShare];
  const hostile = [
    '9'.repeat(60) + 's',
    '9'.repeat(60),
    '1'.repeat(1e6) + 'B',
    '9'.repeat(30) + 'GB',
  ];
  for (const parse of parsers) {
    for (const text of [...hostile, null, undefined, {}, [], true, '{{n}}']) {
      expect(errorOf(() => parse(text)).code).toBe('SQ_UNIT');
    }
  }
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...parsers), (text, parse) => {
      expect(outcomeOf(() => parse(text))).toMatch(/finite|SQ_UNIT/);
    }),
  );
});

function outcomeOf(run: () => number): string {
  try {
    return Number.isFinite(run()) ? 'finite' : 'not finite';
  } catch (error) {
    return error instanceof SquallError ? error.code : String(error);
  }
}
