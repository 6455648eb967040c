import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatRate,
  formatShare,
  parseDuration,
  parseRate,
  parseShare,
  parseSize,
} from '../../src/units/index.ts';

test.each([
  [0, '0us'],
  [0.4, '0.4us'],
  [999.96, '1ms'],
  [12_346, '12.35ms'],
  [200_000, '200ms'],
  [999_999, '1s'],
  [2_000_000, '2s'],
  [59_999_999, '1m'],
  [90_500_000, '1m30.5s'],
  [3_600_000_000, '1h'],
  [5_400_000_000, '1h30m'],
  [-1_000, '-1ms'],
])('duration %d', (us, text) => expect(formatDuration(us)).toBe(text));

test.each([
  [0, '0/s'],
  [0.2, '12/m'],
  [0.01, '36/h'],
  [2_000, '2000/s'],
  [9_999.9, '10k/s'],
  [50_000, '50k/s'],
  [12_345, '12.35k/s'],
  [1_234_567, '1.235M/s'],
])('rate %d', (perS, text) => expect(formatRate(perS)).toBe(text));

test.each([
  [0, '0B'],
  [200, '200B'],
  [1_000, '1KB'],
  [999_960, '1MB'],
  [100e9, '100GB'],
  [5e15, '5000TB'],
])('bytes %d', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

test('counts are exact, with separators', () => {
  expect(formatCount(0)).toBe('0');
  expect(formatCount(999)).toBe('999');
  expect(formatCount(1_234_567)).toBe('1,234,567');
  expect(formatCount(-1_234.5)).toBe('-1,234.5');
});

test('shares', () => expect(formatShare(0.999)).toBe('99.9%'));

const off = (read: number, value: number) => Math.abs(read - value) / value;
const positive = (min: number, max: number) => fc.double({ min, max, noNaN: true });

describe('what is printed can be read back, to four digits', () => {
  test.each([
    ['durations', formatDuration, parseDuration, positive(0.01, 1e12)],
    ['rates', formatRate, parseRate, positive(0.01, 1e9)],
    ['sizes', formatBytes, parseSize, fc.integer({ min: 1, max: 2 ** 50 })],
    ['shares', formatShare, parseShare, positive(0.001, 1)],
  ])('%s', (_, format, parse, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(off(parse(format(value)), value)).toBeLessThanOrEqual(0.000_51);
      }),
    );
  });
});
