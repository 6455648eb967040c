import { aggregateState, generatorState, judgeState } from '@squall/core/checkpoint';
import { type Frame, RunAggregate, seriesKeyOf, type Slice } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import { buildReport, checkReport, GeneratorWatch, type Report } from '@squall/core/report';
import { Judge } from '@squall/core/thresholds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentOf, connecting, RUN } from '../report/scene.ts';
import { counter, planOf, repeat, sliceOf, stageOf, times } from '../thresholds/scene.ts';

const PLAN: Plan = planOf(
  [
    'publish_failed: count < 5 over 2s for 2 slo 75%',
    'publish_failed: count < 4',
    'publish_failed: share <= 10% in publish',
    'publish_time: p(99) < 20ms over 3s',
    'publish_time: p(50) < 10ms and p(99) < 30ms in publish',
    'connections: value >= 2 over 1s after 2s',
    'connections: max < 100',
    'lateness: p(90) < 1s',
    'connected: count >= 1',
  ],
  [stageOf('connect', 0, { kind: 'connect' }), stageOf('publish', 1)],
);

/** What one agent did in one second. */
interface Second {
  readonly sent: number;
  readonly failed: number;
  readonly ms: number;
  readonly lateMs: number;
  readonly connections: number;
}

/** What happens next: a frame of an agent arrives, a checkpoint is written, the controller dies. */
type Step = { readonly arrives: number } | 'checkpoint' | 'kill';

interface Story {
  readonly agents: readonly (readonly Second[])[];
  readonly steps: readonly Step[];
}

const second: fc.Arbitrary<Second> = fc.record({
  sent: fc.nat(6),
  failed: fc.nat(3),
  ms: fc.integer({ min: 1, max: 40 }),
  lateMs: fc.nat(80),
  connections: fc.nat(4),
});

const story: fc.Arbitrary<Story> = fc
  .record({ agents: fc.integer({ min: 1, max: 3 }), seconds: fc.integer({ min: 1, max: 20 }) })
  .chain(({ agents, seconds }) =>
    fc.record({
      agents: fc.array(fc.array(second, { minLength: seconds, maxLength: seconds }), {
        minLength: agents,
        maxLength: agents,
      }),
      steps: fc.array(
        fc.oneof(
          { weight: 8, arbitrary: fc.nat(agents - 1).map((arrives) => ({ arrives })) },
          { weight: 2, arbitrary: fc.constant('checkpoint' as const) },
          { weight: 1, arbitrary: fc.constant('kill' as const) },
        ),
        { maxLength: 80 },
      ),
    }),
  );

/** A frame a second: connecting, publishing, and one of the drain, in which late answers come. */
function framesOf(seconds: readonly Second[], agent: string): Frame[] {
  const slices: Slice[] = [
    sliceOf({ n: 0, stage: 0 }, connecting(2)),
    // One of the first second is answered in the drain only.
    ...seconds.map((one, n) => sliceOf({ stage: 1, n, startS: 1 }, seriesOf(one, n === 0 ? 1 : 0))),
    sliceOf({ stage: 1, phase: 'settle', n: 0, startS: 1 + seconds.length }, [
      times('publish_time', [25], { stage: 1, qos: 1 }),
      counter('acked', 1, { stage: 1, qos: 1 }),
      counter('published', 1, { stage: 1, qos: 1 }),
    ]),
  ];
  return slices.map((slice, at) => {
    const seq = at + 1;
    return { run: 'run', agent, epoch: 1, seqFrom: seq, seqTo: seq, slices: [slice] };
  });
}

function seriesOf({ sent, failed, ms, lateMs, connections }: Second, late: number) {
  const key = { stage: 1, qos: 1 } as const;
  return [
    counter('planned', sent + failed + late, key),
    counter('scheduled', sent + failed + late, key),
    counter('sent', sent + late, key),
    counter('published', sent, key),
    counter('acked', sent, key),
    counter('publish_failed', failed, { ...key, reason: 'not sent: x' }),
    times('publish_time', repeat(sent, ms), key),
    times('lateness', repeat(sent, lateMs), key),
    counter('connections', connections, { stage: 1 }),
  ];
}

/** What a controller holds of a run, and a checkpoint of it as text. */
class Memory {
  readonly aggregate: RunAggregate;
  readonly judge: Judge;
  readonly watch: GeneratorWatch;

  constructor(agents: readonly string[], checkpoint?: string) {
    const read = checkpoint === undefined ? undefined : JSON.parse(checkpoint);
    this.aggregate = new RunAggregate('run', read && aggregateState.parse(read.aggregate));
    this.judge = new Judge({ plan: PLAN, agents }, read && judgeState.parse(read.judge));
    this.watch = new GeneratorWatch([], read && generatorState.parse(read.watch));
    this.aggregate.onSlice((agent, slice) => {
      this.judge.add(agent, slice);
      this.watch.add(agent, slice);
    });
  }

  checkpoint(): string {
    const { aggregate, judge, watch } = this;
    return JSON.stringify({ aggregate, judge, watch });
  }

  report(agents: readonly string[], frames: number): Report {
    return buildReport({
      run: RUN,
      plan: PLAN,
      split: [],
      agents: agents.map((id) => agentOf(id, { framesProduced: frames, framesReceived: frames })),
      stages: [
        { index: 0, enteredUs: 0, clockUs: 0, endUs: 1e6, endedBy: 'complete' },
        { index: 1, enteredUs: 1e6, clockUs: 1e6, endUs: frames * 1e6 - 1e6, endedBy: 'duration' },
      ],
      aggregate: this.aggregate,
      thresholds: this.judge.finish(),
      generator: this.watch.facts(),
      outcome: { kind: 'completed' },
      notes: [],
      bus: [],
    });
  }
}

/** Lives through the story; `mortal` decides whether kills happen. */
function live({ agents, steps }: Story, mortal: boolean): { memory: Memory; report: Report } {
  const ids = agents.map((_, at) => `agent-${at}`);
  const frames = agents.map((seconds, at) => framesOf(seconds, `agent-${at}`));
  const next = agents.map(() => 0);
  let memory = new Memory(ids);
  let saved: string | undefined;
  const arrive = (agent: number) => {
    const frame = frames[agent]?.[next[agent] ?? 0];
    if (frame === undefined) return;
    next[agent] = (next[agent] ?? 0) + 1;
    memory.aggregate.fold(frame);
  };
  for (const step of steps) {
    if (typeof step === 'object') arrive(step.arrives);
    else if (step === 'checkpoint') saved = memory.checkpoint();
    else if (mortal) {
      memory = new Memory(ids, saved);
      // What no checkpoint acknowledged is sent again, and one that was, for good measure.
      for (const [at, id] of ids.entries()) {
        next[at] = Math.max(0, memory.aggregate.contiguousSeq(id, 1) - 1);
      }
    }
  }
  for (const at of agents.keys()) {
    for (let left = frames[at]?.length ?? 0; left > 0; left--) arrive(at);
  }
  return { memory, report: memory.report(ids, frames[0]?.length ?? 0) };
}

/** Every series in a fixed order: agents may have come in another one. */
function series(memory: Memory) {
  return [...memory.aggregate.series()]
    .map(({ key, value, histogram }) => [seriesKeyOf(key), value, histogram?.toSparse() ?? null])
    .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
}

describe('a run whose controller dies at any moment, as often as it likes', () => {
  it('ends with the very figures and judgements of one that was never disturbed', () => {
    fc.assert(
      fc.property(story, (one) => {
        const calm = live(one, false);
        const killed = live(one, true);
        expect(series(killed.memory)).toEqual(series(calm.memory));
        expect(killed.report).toEqual(calm.report);
        expect(killed.report.books.filter((book) => !book.holds)).toEqual([]);
        expect(checkReport(killed.report)).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });

  it('does not end the run a second time for the threshold that ended it', () => {
    const plan = planOf(['publish_failed: count < 2 over 1s, abort']);
    const judge = new Judge({ plan, agents: ['a'] });
    judge.add('a', sliceOf({ n: 0 }, [counter('publish_failed', 5, { reason: 'x' })]));
    judge.add('a', sliceOf({ n: 1 }));
    judge.add('a', sliceOf({ n: 2 }));
    expect(judge.advance(0)?.reason).toContain('publish_failed');
    const state = judgeState.parse(JSON.parse(JSON.stringify(judge)));
    const again = new Judge({ plan, agents: ['a'] }, state);
    expect(again.advance(0)).toBeNull();
    expect(again.finish()).toEqual(judge.finish());
    expect(again.finish()[0]).toMatchObject({ state: 'fail', aborted: true });
  });
});

describe('a state that was damaged', () => {
  const whole = new Memory(['a']);
  for (const frame of framesOf([{ sent: 3, failed: 1, ms: 2, lateMs: 1, connections: 2 }], 'a')) {
    whole.aggregate.fold(frame);
  }
  const text = whole.checkpoint();

  it.for([
    ['a metric that is none', /"metric":"connected"/, '"metric":"x"'],
    ['a number that is none', /"value":2,/, '"value":null,'],
    ['a part that is not there', /"conflicts":0,/, ''],
    ['a part that nobody knows', /"conflicts":0/, '"conflicts":0,"more":1'],
    ['buckets out of order', /("window":\{"buckets":\[)/, '$19000,1,'],
    ['a threshold without its tally', /,"abortedBy":null/, ''],
  ] as const)('is refused: %s', ([, part, other]) => {
    expect(text).toMatch(part);
    const damaged = JSON.parse(text.replace(part, other));
    const results = [
      aggregateState.safeParse(damaged.aggregate),
      judgeState.safeParse(damaged.judge),
      generatorState.safeParse(damaged.watch),
    ];
    expect(results.filter((result) => !result.success)).toHaveLength(1);
  });
});
