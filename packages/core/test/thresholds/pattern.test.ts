import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPattern } from '../../src/thresholds/pattern.ts';

describe('the patterns of =~', () => {
  it.each([
    ['conn.*|timeout', ['connection lost', 'conn', 'timeout'], ['a timeout', 'timeouts', '']],
    ['a+b?c*', ['a', 'aab', 'abccc', 'acc'], ['', 'b', 'abbc']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x', 'aax']],
    ['[^a-c_]+', ['xyz'], ['xa', 'x_', '']],
    ['no \\(0x87\\)', ['no (0x87)'], ['no 0x87']],
    ['', [''], ['a']],
    ['.', ['😀', 'a'], ['', 'ab']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a-]', ['a', '-'], ['b']],
  ])('%s', (source, fitting, others) => {
    const pattern = readPattern(source);
    for (const text of fitting) expect(pattern(text), text).toBe(true);
    for (const text of others) expect(pattern(text), text).toBe(false);
  });

  it.each(['(a)', 'a{2}', '^a', 'a$', '*', 'a**', '+', '[a', 'a\\', '\\d', ']', '[\\d]'])(
    'refuse %s',
    (source) => {
      expect(() => readPattern(source)).toThrow(RangeError);
    },
  );

  it('say what regular expressions say', () => {
    const piece = fc
      .tuple(
        fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\.'),
        fc.constantFrom('', '*', '+', '?'),
      )
      .map((parts) => parts.join(''));
    const source = fc
      .array(fc.array(piece, { maxLength: 5 }), { minLength: 1, maxLength: 3 })
      .map((alternatives) => alternatives.map((items) => items.join('')).join('|'));
    fc.assert(
      fc.property(
        source,
        fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 }),
        (one, text) => {
          expect(readPattern(one)(text)).toBe(new RegExp(`^(?:${one})$`, 'su').test(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('take no time to speak of, whatever they are', () => {
    const pattern = readPattern(`${'a*'.repeat(99)}b`);
    const from = performance.now();
    expect(pattern('a'.repeat(2_000))).toBe(false);
    expect(performance.now() - from).toBeLessThan(1_000);
  });
});
