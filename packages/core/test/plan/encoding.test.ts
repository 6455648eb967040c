import { describe, expect, test } from 'vitest';
import { refused, planOf } from './plan-fixture.ts';

const TEXT = 'squall: 1\nname: x\n';

describe('a file that is no YAML in UTF-8 says what to do', () => {
  test.each([
    ['UTF-16 without a mark', TEXT.replaceAll(/[^]/g, '$&\0')],
    ['UTF-16 with a mark', `\uFFFD\uFFFD${TEXT}`],
    ['a binary file', 'PK\u0003\u0004\0\0'],
  ])('%s', (_what, text) => {
    expect(refused(text)).toEqual([
      expect.objectContaining({
        message: 'the file is not text in UTF-8',
        hint: expect.stringContaining('save it as UTF-8'),
        line: 1,
      }),
    ]);
  });

  test('two documents', () => {
    const [error] = refused(`${TEXT}---\n${TEXT}`);
    expect(error?.message).toBe('the file holds more than one YAML document');
    expect(error?.hint).toContain('a file holds one plan');
  });
});

test.each(['1e400', '-1e400', '.inf', '-.inf', '.nan'])(
  '%s is told as a number that no plan can hold, once',
  (number) => {
    const text = JSON.stringify(planOf({}, { clients: 'CLIENTS' })).replace(
      '"CLIENTS"',
      ` ${number}`,
    );
    expect(refused(text).map((error) => error.message)).toEqual([
      `${number} is not a number that a plan can hold`,
    ]);
  },
);
