import { describe, expect, test } from 'vitest';
import { planOf, refused } from './plan-fixture.ts';

const target = (more: object) =>
  planOf({ targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'], ...more } } });

/** What the language has and this version has not: never ignored, always named. */
const REFUSED: readonly (readonly [string, unknown, string])[] = [
  ['matrix', planOf({ matrix: { broker: ['a', 'b'] } }), 'matrix is'],
  ['quic', target({ urls: ['quic://h'] }), 'quic:// is'],
  [
    'redistribute',
    planOf({ limits: { onAgentLoss: 'redistribute' } }),
    'onAgentLoss: redistribute is',
  ],
];

describe('described in the language, not in this version', () => {
  test.each(REFUSED)('%s', (_, plan, what) => {
    const errors = refused(plan);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      code: 'SQ_UNSUPPORTED',
      message: `${what} not supported by this version`,
    });
  });

  test('a wrong shape of it is told as such', () => {
    const [error] = refused(planOf({ probes: { p: { type: 'mysqll' } } }));
    expect(error).toMatchObject({ code: 'SQ_PLAN', hint: 'did you mean mysql?' });
  });
});
