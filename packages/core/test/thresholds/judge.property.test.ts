import { Judge } from '@squall/core/thresholds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counter, only, planOf, sliceOf } from './scene.ts';

const LIMIT = 5;
/** Failures of each agent in each second. */
const run = fc
  .record({
    agents: fc.integer({ min: 1, max: 3 }),
    seconds: fc.integer({ min: 1, max: 24 }),
    over: fc.integer({ min: 1, max: 5 }),
    rows: fc.integer({ min: 1, max: 4 }),
    after: fc.integer({ min: 0, max: 6 }),
    slo: fc.constantFrom(null, 50, 75, 90),
  })
  .chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      values: fc.array(
        fc.array(fc.integer({ min: 0, max: 4 }), fixed(shape.seconds)),
        fixed(shape.agents),
      ),
      /** Whose slice comes next: any order between agents is possible. */
      order: fc.shuffledSubarray(
        Array.from({ length: shape.agents * shape.seconds }, (_, at) => at % shape.agents),
        fixed(shape.agents * shape.seconds),
      ),
    }),
  );

function fixed(length: number) {
  return { minLength: length, maxLength: length };
}

type Run = typeof run extends fc.Arbitrary<infer T> ? T : never;

function lineOf({ shape: { over, rows, after, slo } }: Run, abort = false): string {
  return [
    `publish_failed: count < ${LIMIT} over ${over}s for ${rows}`,
    ...(slo === null ? [] : [`slo ${slo}%`]),
    ...(after === 0 ? [] : [`after ${after}s`]),
    ...(abort ? ['abort'] : []),
  ].join(' ');
}

/** The same question, answered with everything at hand and no cleverness. */
function oracle({ shape, values }: Run) {
  const { seconds, over, rows, after, slo } = shape;
  const failed: boolean[] = [];
  for (let from = 0; from < seconds; from += over) {
    if (from < after) continue;
    const to = Math.min(from + over, seconds);
    const sum = values.reduce(
      (all, agent) => all + agent.slice(from, to).reduce((a, b) => a + b, 0),
      0,
    );
    failed.push(sum >= LIMIT);
  }
  const counted = failed.filter((_, at) => {
    let [first, last] = [at, at];
    while (failed[first - 1]) first--;
    while (failed[last + 1]) last++;
    return failed[at] && last - first + 1 >= rows;
  }).length;
  const share = failed.length === 0 ? 1 : (failed.length - counted) / failed.length;
  const broken = counted > 0 && (slo === null || share < slo / 100 - 1e-9);
  const state = broken ? 'fail' : failed.length === 0 ? 'no_data' : 'pass';
  return { state, windows: failed.length, failedWindows: failed.filter(Boolean).length };
}

function feed(judge: Judge, { values, order }: Run, each?: (n: number) => void): void {
  const next = values.map(() => 0);
  for (const agent of order) {
    const n = next[agent] ?? 0;
    next[agent] = n + 1;
    const value = values[agent]?.[n] ?? 0;
    const series = value === 0 ? [] : [counter('publish_failed', value, { reason: 'x' })];
    judge.add(`agent-${agent}`, sliceOf({ n }, series));
    each?.(n);
  }
}

function judgeOf(one: Run, abort = false): Judge {
  const agents = one.values.map((_, agent) => `agent-${agent}`);
  return new Judge({ plan: planOf([lineOf(one, abort)]), agents });
}

describe('windows, in whatever order agents report', () => {
  it('come out as if everything had been at hand at once', () => {
    fc.assert(
      fc.property(run, (one) => {
        const judge = judgeOf(one);
        feed(judge, one);
        expect(only(judge.finish()), lineOf(one)).toMatchObject(oracle(one));
      }),
      { numRuns: 300 },
    );
  });

  it('end the run only if the whole of it breaks the threshold, when there is no "slo"', () => {
    fc.assert(
      fc.property(run, (one) => {
        const strict = { ...one, shape: { ...one.shape, slo: null } };
        const judge = judgeOf(strict, true);
        let ended = false;
        // Nobody is late: time is that of the slowest agent.
        feed(judge, strict, () => (ended ||= judge.advance(0) !== null));
        const result = only(judge.finish());
        const wanted = oracle(strict);
        expect(result.state).toBe(wanted.state);
        const fails = wanted.state === 'fail';
        expect(ended && !fails, 'ended though it holds').toBe(false);
        // Only a window that was cut short by the end can fail without having been due before.
        const cutShort = strict.shape.seconds % strict.shape.over !== 0;
        expect(fails && !ended && !cutShort, 'not ended though it was due').toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
