import { expect, test } from 'vitest';
import { nearest } from '../../src/text/nearest.ts';

test.each([
  ['keepalive', ['timeout', 'keepAlive'], 'keepAlive'],
  ['unitl', ['for', 'until'], 'until'],
  ['publish_tme', ['publish_time', 'subscribe_time'], 'publish_time'],
  ['foo', ['now', 'for'], 'for'],
  ['foo', ['now', 'seq'], null],
  ['x', ['protocol', 'urls'], null],
  ['a'.repeat(1_000), ['a'], null],
])('%s among %j', (word, known, expected) => {
  expect(nearest(word, known)).toBe(expected);
});
