import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  coarsenFrames,
  type Frame,
  MAX_REASONS,
  METRICS,
  type MetricName,
  OTHER_REASONS,
  RunAggregate,
  type SeriesDelta,
  seriesKeyOf,
  type Slice,
  sparseCount,
} from '@squall/core/metrics';
import { frames, sparseOf } from './frames.ts';

const RUN = 'run-1';

function aggregateOf(list: readonly Frame[]): RunAggregate {
  const aggregate = new RunAggregate(RUN);
  for (const one of list) aggregate.fold(one);
  return aggregate;
}

/** Every series with its sum or count, in a fixed order. */
function figures(aggregate: RunAggregate) {
  return [...aggregate.series()]
    .map(({ key, value, histogram }) => [seriesKeyOf(key), value, histogram?.toSparse() ?? null])
    .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
}

function slice(n: number, series: readonly SeriesDelta[], more: Partial<Slice> = {}): Slice {
  const [fromUs, toUs] = [n * 1e6, (n + 1) * 1e6];
  return { stage: 0, phase: 'main', n, span: 1, fromUs, toUs, series, examples: [], ...more };
}

function frame(agent: string, seq: number, slices: readonly Slice[]): Frame {
  return { run: RUN, agent, epoch: 1, seqFrom: seq, seqTo: seq, slices };
}

function counter(metric: MetricName, value: number, subject = 'devices'): SeriesDelta {
  return { metric, subject, stage: 0, value };
}

function publishTimes(values: readonly number[]): SeriesDelta {
  return { metric: 'publish_time', subject: 'devices', stage: 0, histogram: sparseOf(values) };
}

/** A frame that covers several sequences. */
function wide(from: number, to: number): Frame {
  return { ...frame('a', from, [slice(from, [counter('sent', 1)])]), seqTo: to };
}

function curve(aggregate: RunAggregate, metric: MetricName, stat: string) {
  return aggregate.timeline.series().find((one) => one.metric === metric && one.stat === stat)
    ?.values;
}

/** Frames of two agents in some order, some of them more than once. */
const delivery = fc.tuple(frames('a', 4), frames('b', 4)).chain(([a, b]) => {
  const all = [...a, ...b];
  return fc.record({
    all: fc.constant(all),
    order: fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
    again: fc.subarray(all),
    cut: fc.integer({ min: 0, max: all.length }),
  });
});

describe('RunAggregate', () => {
  it('comes to the same figures whatever the order and however often a frame arrives', () => {
    fc.assert(
      fc.property(delivery, ({ all, order, again, cut }) => {
        const aggregate = new RunAggregate(RUN);
        const outcomes = [...order.slice(0, cut), ...again, ...order.slice(cut)].map((one) =>
          aggregate.fold(one),
        );
        expect(outcomes.filter((outcome) => outcome === 'folded')).toHaveLength(all.length);
        expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(again.length);
        expect(figures(aggregate)).toEqual(figures(aggregateOf(all)));
        expect(aggregate.framesReceived('a')).toBe(4);
        expect(aggregate.contiguousSeq('b', 1)).toBe(4);
        expect(aggregate.missing('a', 4)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('adds up what the frames say: Σ agents = whole, counters and times alike', () => {
    fc.assert(
      fc.property(delivery, ({ all }) => {
        const aggregate = aggregateOf(all);
        const series = all.flatMap((one) => one.slices.flatMap((part) => part.series));
        for (const metric of Object.keys(METRICS) as MetricName[]) {
          const mine = series.filter((one) => one.metric === metric);
          const times = mine.reduce(
            (n, one) => n + (one.histogram ? sparseCount(one.histogram) : 0),
            0,
          );
          expect(aggregate.histogram({ metric }).count).toBe(times);
          const isCounter = METRICS[metric].kind === 'counter';
          const sum = isCounter ? mine.reduce((n, one) => n + (one.value ?? 0), 0) : 0;
          expect(aggregate.counter({ metric })).toBe(sum);
          const byAgent = ['a', 'b'].flatMap((agent) => [...aggregate.agentCounters(agent)]);
          const own = byAgent.filter(({ key }) => key.metric === metric);
          expect(own.reduce((n, { value }) => n + value, 0)).toBe(sum);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('takes a coarsened frame for all that it covers, and its parts afterwards for duplicates', () => {
    fc.assert(
      fc.property(frames('a', 5), (list) => {
        const [first, ...rest] = list;
        if (first === undefined) throw new Error('five frames');
        const aggregate = aggregateOf([first, rest.reduce(coarsenFrames)]);
        expect(aggregate.framesReceived('a')).toBe(5);
        expect(figures(aggregate)).toEqual(figures(aggregateOf(list)));
        for (const one of list) expect(aggregate.fold(one)).toBe('duplicate');
      }),
      { numRuns: 30 },
    );
  });

  it('is the same after a journey through JSON, and goes on from there', () => {
    fc.assert(
      fc.property(delivery, ({ order, cut }) => {
        const before = aggregateOf(order.slice(0, cut));
        const revived = new RunAggregate(RUN, JSON.parse(JSON.stringify(before)));
        expect(JSON.stringify(revived)).toBe(JSON.stringify(before));
        for (const one of order.slice(cut)) expect(revived.fold(one)).toBe('folded');
        const whole = aggregateOf(order);
        expect(figures(revived)).toEqual(figures(whole));
        expect(revived.timeline.series()).toEqual(whole.timeline.series());
        expect(revived.fold(order[0] ?? frame('a', 1, []))).toBe('duplicate');
      }),
      { numRuns: 30 },
    );
  });

  it('names the gaps, and what it cannot fold once it does not fold at all', () => {
    const aggregate = new RunAggregate(RUN);
    expect(aggregate.fold(wide(2, 3))).toBe('folded');
    expect(aggregate.fold(wide(6, 6))).toBe('folded');
    expect(aggregate.fold(wide(3, 4))).toBe('conflict');
    expect(aggregate.conflicts).toBe(1);
    expect(aggregate.counter({ metric: 'sent' })).toBe(2);
    expect(aggregate.contiguousSeq('a', 1)).toBe(0);
    expect(aggregate.missing('a')).toEqual([
      { epoch: 1, from: 1, to: 1 },
      { epoch: 1, from: 4, to: 5 },
    ]);
    expect(aggregate.missing('a', 8).at(-1)).toEqual({ epoch: 1, from: 7, to: 8 });
    expect(aggregate.missing('never heard', 2)).toEqual([{ epoch: 1, from: 1, to: 2 }]);
    expect(aggregate.fold({ ...wide(1, 1), run: 'other' })).toBe('foreign');
    expect(aggregate.fold({ ...wide(1, 1), epoch: 2 })).toBe('folded');
    expect(aggregate.missing('a', 1).filter(({ epoch }) => epoch === 2)).toEqual([]);
  });

  it('hands every slice to its listeners once', () => {
    const aggregate = new RunAggregate(RUN);
    const seen: string[] = [];
    const stop = aggregate.onSlice((agent, { n }) => seen.push(`${agent}${n}`));
    aggregate.fold(frame('a', 1, [slice(0, []), slice(1, [])]));
    aggregate.fold(frame('a', 1, [slice(0, []), slice(1, [])]));
    stop();
    aggregate.fold(frame('a', 2, [slice(2, [])]));
    expect(seen).toEqual(['a0', 'a1']);
  });

  it('filters by metric, group with its streams, stage, QoS and reason', () => {
    const aggregate = aggregateOf([
      frame('a', 1, [
        slice(0, [
          { metric: 'sent', subject: 'devices', stage: 0, qos: 1, value: 1 },
          { metric: 'sent', subject: 'devices.beat', stage: 1, qos: 0, value: 10 },
          { metric: 'sent', subject: 'devices2', stage: 0, qos: 1, value: 100 },
          { metric: 'dropped', subject: 'devices', stage: 0, reason: 'window', value: 1000 },
        ]),
      ]),
    ]);
    expect(aggregate.counter({ metric: 'sent' })).toBe(111);
    expect(aggregate.counter({ metric: 'sent', subject: 'devices' })).toBe(11);
    expect(aggregate.counter({ metric: 'sent', subject: 'devices', stage: 1 })).toBe(10);
    expect(aggregate.counter({ metric: 'sent', qos: 1 })).toBe(101);
    expect(aggregate.counter({ metric: 'dropped', reason: 'window' })).toBe(1000);
    expect(aggregate.counter({ metric: 'dropped', reason: 'backpressure' })).toBe(0);
  });

  it('bounds the number of reasons and loses none of their counts', () => {
    const series = Array.from({ length: MAX_REASONS + 50 }, (_, k) => ({
      ...counter('publish_failed', 1),
      reason: `broker said ${k}`,
    }));
    const aggregate = aggregateOf([
      frame('a', 1, [slice(0, series)]),
      frame('a', 2, [slice(1, series)]),
    ]);
    expect([...aggregate.series({ metric: 'publish_failed' })]).toHaveLength(MAX_REASONS + 1);
    expect(aggregate.counter({ metric: 'publish_failed', reason: OTHER_REASONS })).toBe(100);
    expect(aggregate.counter({ metric: 'publish_failed' })).toBe(2 * series.length);
  });

  it('sums the newest gauges over agents, stages and the parts of one moment, without lost agents', () => {
    const aggregate = aggregateOf([
      frame('a', 1, [slice(0, [counter('inflight', 5), { ...counter('inflight', 2), stage: 1 }])]),
      frame('b', 1, [slice(0, [counter('inflight', 10), counter('inflight', 100, 'other')])]),
    ]);
    expect(aggregate.gauge('inflight')).toBe(117);
    expect(aggregate.gauge('inflight', 'devices')).toBe(17);
    // A late part of the same second adds, an older second changes nothing, a newer one replaces.
    aggregate.fold(frame('a', 2, [slice(0, [counter('inflight', 1)])]));
    expect(aggregate.gauge('inflight', 'devices')).toBe(18);
    aggregate.fold(frame('a', 4, [slice(2, [])]));
    aggregate.fold(frame('a', 3, [slice(1, [counter('inflight', 50)])]));
    expect(aggregate.gauge('inflight', 'devices')).toBe(10);
    aggregate.agentLost('b');
    expect(aggregate.gauge('inflight')).toBe(0);
  });

  it('keeps the first twenty examples of a kind over all agents, with the agent', () => {
    const examples = Array.from({ length: 20 }, (_, k) => ({
      metric: 'connect_failed' as const,
      subject: 'devices',
      reason: 'refused',
      client: `c${k}`,
      address: '127.0.0.1:1883',
      atUs: k * 10,
    }));
    const aggregate = aggregateOf([
      frame('late', 1, [
        slice(0, [], { examples: examples.map((e) => ({ ...e, atUs: e.atUs + 5 })) }),
      ]),
      frame('early', 1, [slice(0, [], { examples })]),
    ]);
    expect(aggregate.examples()).toHaveLength(20);
    expect(
      aggregate
        .examples()
        .slice(0, 3)
        .map(({ agent, atUs }) => [agent, atUs]),
    ).toEqual([
      ['early', 0],
      ['late', 5],
      ['early', 10],
    ]);
  });

  it('tells when a counter grew last', () => {
    const aggregate = aggregateOf([
      frame('a', 1, [slice(3, [counter('received', 2)])]),
      frame('a', 2, [slice(4, [counter('received', 0)])]),
    ]);
    expect(aggregate.lastGrowthUs('received')).toBe(4e6);
    expect(aggregate.lastGrowthUs('sent')).toBeNull();
    expect(aggregate.reportedUpToUs('a')).toBe(5e6);
    expect(aggregate.reportedUpToUs('b')).toBeNull();
  });
});

describe('closedUpTo', () => {
  it('is what all live agents have reported, in the order of stages, phases and seconds', () => {
    const aggregate = new RunAggregate(RUN);
    const live = ['a', 'b'];
    aggregate.fold(frame('a', 1, [slice(0, [], { phase: 'prologue' }), slice(0, [])]));
    expect(aggregate.closedUpTo(live, 0)).toBeNull();
    aggregate.fold(frame('b', 1, [slice(0, [], { phase: 'prologue' })]));
    expect(aggregate.closedUpTo(live, 0)).toMatchObject({ phase: 'prologue', n: 0 });
    aggregate.fold(frame('b', 2, [slice(0, []), slice(0, [], { stage: 1 })]));
    expect(aggregate.closedUpTo(live, 0)).toMatchObject({ stage: 0, phase: 'main', n: 0 });
    // Without the agent that lags, what the other one reported is closed.
    expect(aggregate.closedUpTo(['b'], 0)).toMatchObject({ stage: 1, n: 0 });
  });

  it('waits for a late agent no longer than the watermark, and never goes back', () => {
    const aggregate = new RunAggregate(RUN);
    aggregate.fold(frame('b', 1, [slice(0, [])]));
    for (let n = 0; n < 6; n++) aggregate.fold(frame('a', n + 1, [slice(n, [])]));
    expect(aggregate.closedUpTo(['a', 'b'], 2_500_000)).toMatchObject({ n: 0 });
    expect(aggregate.closedUpTo(['a', 'b'], 6_000_000)).toMatchObject({ n: 2, toUs: 3e6 });
    expect(aggregate.closedUpTo(['a', 'b'], 6_999_999)).toMatchObject({ n: 2 });
    expect(aggregate.closedUpTo(['a', 'b'], 0)).toMatchObject({ n: 2 });
    aggregate.fold(frame('b', 2, [slice(1, [])]));
    expect(aggregate.closedUpTo(['a', 'b'], 0)).toMatchObject({ n: 2 });
  });

  it('counts a coarse slice by its end', () => {
    const aggregate = aggregateOf([frame('a', 1, [slice(0, [], { span: 5, toUs: 5e6 })])]);
    expect(aggregate.closedUpTo(['a'], 0)).toMatchObject({ n: 4, toUs: 5e6 });
  });
});

describe('timeline', () => {
  it('gives rates, gauges and percentiles of each second over all agents', () => {
    const aggregate = aggregateOf([
      frame('a', 1, [
        slice(0, [counter('sent', 10), counter('connections', 3), publishTimes([10, 20])]),
      ]),
      frame('b', 1, [
        slice(0, [counter('sent', 5), counter('connections', 4), publishTimes([30, 40])]),
      ]),
      frame('a', 2, [slice(2, [counter('sent', 1)])]),
    ]);
    expect(curve(aggregate, 'sent', 'rate')).toEqual([15, 0, 1]);
    expect(curve(aggregate, 'connections', 'value')).toEqual([7, null, null]);
    expect(curve(aggregate, 'publish_time', 'p50')).toEqual([20, null, null]);
    expect(curve(aggregate, 'publish_time', 'p99')).toEqual([40, null, null]);
    const step = aggregate.timeline.lastStepBefore(1_400_000);
    expect(step?.counters.get('sent')).toBe(15);
    expect(step?.times.get('publish_time')).toEqual({ count: 4, p50Us: 20, p99Us: 40 });
    expect(aggregate.timeline.lastStepBefore(999_999)).toBeNull();
  });

  it('spreads what does not lie on whole seconds by how long it lies in each', () => {
    const moved = { fromUs: 250_000, toUs: 1_250_000 };
    const aggregate = aggregateOf([
      frame('a', 1, [slice(0, [counter('sent', 100)], moved)]),
      // A hair over the edge of a second is the clock's doing.
      frame('a', 2, [slice(1, [counter('acked', 7)], { fromUs: 1_999_990, toUs: 2_999_990 })]),
      frame('a', 3, [slice(2, [counter('dropped', 9)], { fromUs: -400, toUs: -400 })]),
    ]);
    expect(curve(aggregate, 'sent', 'rate')).toEqual([75, 25, 0]);
    expect(curve(aggregate, 'acked', 'rate')).toEqual([0, 0, 7]);
    expect(curve(aggregate, 'dropped', 'rate')).toEqual([9, 0, 0]);
  });

  it('keeps the area under its curves however long the run gets', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(30_000), fc.nat(100)), { minLength: 1, maxLength: 40 }),
        (list) => {
          const aggregate = new RunAggregate(RUN);
          for (const [k, [n, value]] of list.entries()) {
            const histogram = sparseOf([value + 1]);
            const time: SeriesDelta = { metric: 'publish_time', subject: 'd', stage: 0, histogram };
            const gauge = counter('connections', value);
            aggregate.fold(frame('a', k + 1, [slice(n, [counter('sent', value), time, gauge])]));
          }
          const { stepUs, length } = aggregate.timeline;
          const rates = curve(aggregate, 'sent', 'rate') ?? [];
          const area = rates.reduce<number>((sum, rate) => sum + (rate ?? 0), 0) * (stepUs / 1e6);
          expect(area).toBeCloseTo(
            list.reduce((sum, [, value]) => sum + value, 0),
            6,
          );
          expect(length).toBeLessThanOrEqual(3_600);
          for (const stat of ['p50', 'p99']) {
            const most = Math.max(...list.map(([, value]) => value + 1));
            const values = curve(aggregate, 'publish_time', stat) ?? [];
            expect(Math.max(...values.map((value) => value ?? 0))).toBeLessThanOrEqual(most);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('counts what comes too late for the percentiles of its second, and still counts it in the sums', () => {
    const aggregate = aggregateOf([
      frame('a', 1, [slice(0, [counter('sent', 1)])]),
      frame('a', 2, [slice(100, [counter('sent', 1)])]),
      frame('b', 1, [slice(0, [counter('sent', 5)])]),
    ]);
    expect(aggregate.timeline.late).toBe(1);
    expect(curve(aggregate, 'sent', 'rate')?.[0]).toBe(6);
  });
});
