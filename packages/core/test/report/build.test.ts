import { NOT_SENT, type Slice } from '@squall/core/metrics';
import { buildReport, checkReport, type Report, reportSchema } from '@squall/core/report';
import { describe, expect, it } from 'vitest';
import { counter, planOf, sliceOf, stageOf, times } from '../thresholds/scene.ts';
import {
  agentOf,
  connecting,
  healthySecond,
  healthySlices,
  inputOf,
  RUN,
  type Scene,
} from './scene.ts';

const plan = planOf(['publish_time: p(99) < 500ms', 'publish_failed: count == 0']);

function reportOf(scene: Partial<Scene> = {}): Report {
  const report = buildReport(inputOf({ plan, slices: healthySlices(), ...scene }));
  expect(checkReport(report), JSON.stringify(report.books)).toEqual([]);
  return report;
}

function changed(agent: 'a' | 'b', at: number, slice: (before: Slice) => Slice) {
  const slices = healthySlices();
  const list = slices[agent] ?? [];
  const before = list[at];
  if (before !== undefined) list[at] = slice(before);
  return slices;
}

function check(report: Report, name: string) {
  return report.validity.findings.filter((finding) => finding.check === name);
}

describe('the report of a healthy run', () => {
  const report = reportOf();

  it('passes, is valid, and its books balance', () => {
    expect(report).toMatchObject({
      schema: 'squall.report/1',
      verdict: 'pass',
      exitCode: 0,
      validity: { state: 'valid', findings: [] },
    });
    expect(report.books.every((book) => book.holds)).toBe(true);
    expect(report.books.map((book) => book.equation)).toEqual([
      'devices: connect_attempts = connected + connect_failed + under way at the end',
      'devices: planned = scheduled + not yet due at the end',
      'devices: scheduled = sent + dropped + failed before sending + waiting at the end',
      'devices: sent = acked + failed after sending + in flight at the end',
      'readers: connect_attempts = connected + connect_failed + under way at the end',
    ]);
  });

  it('adds up what the agents measured', () => {
    const devices = report.groups['devices'];
    expect(devices?.counters).toMatchObject({ connected: 10, sent: 40, acked: 40, dropped: 0 });
    expect(devices?.counters).not.toHaveProperty('lost');
    expect(devices?.times['publish_time']).toMatchObject({ count: 40, minUs: 5_000, maxUs: 5_000 });
    expect(devices?.stages['publish']?.counters['sent']).toBe(40);
    expect(report.agents.map((agent) => agent.counters['devices']?.['sent'])).toEqual([24, 16]);
  });

  it('gives moments in UTC and times in whole µs', () => {
    expect(report.run).toMatchObject({
      startedAt: '2026-11-30T12:00:00.000Z',
      endedAt: '2026-11-30T12:00:10.000Z',
      durationUs: 10_000_000,
    });
    expect(report.stages[0]).toMatchObject({
      startedAt: '2026-11-30T12:00:00.000Z',
      clockAt: '2026-11-30T12:00:01.000Z',
      endedAt: '2026-11-30T12:00:05.000Z',
      durationUs: 4_000_000,
      prologueUs: 1_000_000,
    });
  });

  it('says that delivery was not verified', () => {
    expect(report.ledger).toEqual([]);
    expect(report.notes[0]).toContain('Delivery was not verified');
  });

  it('has the run second by second', () => {
    const rate = report.timeline.series.find(
      (series) => series.metric === 'sent' && series.labels['stat'] === 'rate',
    );
    expect(rate?.labels).toMatchObject({ group: 'devices' });
    expect(rate?.values).toEqual([0, 10, 10, 10, 10]);
  });

  it('survives JSON', () => {
    expect(reportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });
});

describe('the books', () => {
  it('name every way that a message can end', () => {
    const ends = [
      counter('planned', 20, { qos: 1 }),
      counter('scheduled', 20, { qos: 1 }),
      counter('sent', 12, { qos: 1 }),
      counter('acked', 9, { qos: 1 }),
      counter('published', 9, { qos: 1 }),
      counter('dropped', 4, { qos: 1, reason: 'window' }),
      counter('publish_failed', 2, { qos: 1, reason: `${NOT_SENT}connection lost` }),
      counter('publish_failed', 1, { qos: 1, reason: 'connection lost' }),
      counter('unfinished', 2, { qos: 1, reason: 'waiting' }),
      counter('unfinished', 2, { qos: 1, reason: 'in_flight' }),
    ];
    const report = reportOf({
      slices: { a: [sliceOf({ n: 0 }, [...connecting(10), ...ends])] },
      more: { outcome: { kind: 'cancelled', by: 'signal', reasons: ['stopped'] } },
    });
    expect(report.books.filter((book) => !book.holds)).toEqual([]);
    expect(report.validity.state).toBe('valid');
  });

  it('do not balance when a message is missing, and the report says so', () => {
    const slices = changed('a', 2, (slice) => ({
      ...slice,
      series: [
        ...slice.series,
        counter('scheduled', 1, { qos: 1 }),
        counter('planned', 1, { qos: 1 }),
      ],
    }));
    const report = reportOf({ slices });
    const open = report.books.filter((book) => !book.holds);
    expect(open).toEqual([
      {
        equation:
          'devices: scheduled = sent + dropped + failed before sending + waiting at the end',
        left: 41,
        right: 40,
        holds: false,
      },
    ]);
    expect(check(report, 'books')).toMatchObject([{ state: 'degraded' }]);
  });

  it('do not take messages for "not yet due" in a run that went to its end', () => {
    const slices = changed('a', 2, (slice) => ({
      ...slice,
      series: [...slice.series, counter('planned', 3, { qos: 1 })],
    }));
    expect(reportOf({ slices }).books.filter((book) => !book.holds)).toMatchObject([
      { left: 43, right: 40 },
    ]);
    const cut = reportOf({
      slices,
      more: { outcome: { kind: 'cancelled', by: 'api', reasons: ['stopped'] } },
    });
    expect(cut.books.every((book) => book.holds)).toBe(true);
  });

  it('take them for it where a stage is too short for the count of a closed loop', () => {
    const [group, ...groups] = plan.groups;
    const [stream] = group?.publish ?? [];
    if (group === undefined || stream === undefined) throw new Error('no stream');
    const counted = { ...group, publish: [{ ...stream, count: 43 }] };
    const loop = { kind: 'publish', stream: 0, pace: { kind: 'max' }, inflight: 1 } as const;
    const stages = plan.stages.map((stage) => ({
      ...stage,
      run: [{ group: 0, activities: [loop] }],
    }));
    const slices = changed('a', 2, (slice) => ({
      ...slice,
      series: [...slice.series, counter('planned', 3, { qos: 1 })],
    }));
    const short = { ...plan, groups: [counted, ...groups], stages };
    const report = reportOf({ slices, plan: short });
    expect(report.books.every((book) => book.holds)).toBe(true);
  });

  it('count what answers by the name of a stream with it', () => {
    const [group, ...groups] = plan.groups;
    if (group === undefined) throw new Error('no group');
    const respond = {
      name: null,
      subject: 'devices',
      topics: ['ask'],
      qos: 0,
      to: 'answer',
      payload: null,
      delayUs: 0,
    } as const;
    const slices = changed('a', 2, (slice) => ({
      ...slice,
      series: [
        ...slice.series,
        ...(['planned', 'scheduled', 'sent', 'published'] as const).map((metric) =>
          counter(metric, 7, { qos: 0 }),
        ),
      ],
    }));
    const answering = { ...group, respond: [respond] };
    const report = reportOf({ slices, plan: { ...plan, groups: [answering, ...groups] } });
    expect(report.books.every((book) => book.holds)).toBe(true);
    expect(report.books.map(({ equation }) => equation)).toContain(
      'devices: sent = published + failed after sending + in flight at the end',
    );
  });

  it('name the lost agent for what it had not reported', () => {
    const slices = changed('b', 4, (slice) => ({
      ...slice,
      series: ['planned', 'scheduled', 'sent'].map((metric) =>
        counter(metric as 'sent', metric === 'sent' ? 3 : 4, { qos: 1 }),
      ),
    }));
    const lost = agentOf('b', {
      state: 'lost',
      lostAtUs: 5_000_000,
      reason: 'its link was cut',
      framesProduced: null,
      framesReceived: 5,
    });
    const agents = [agentOf('a', { framesProduced: 5, framesReceived: 5 }), lost];
    const degrade = { ...plan, limits: { ...plan.limits, onAgentLoss: 'degrade' as const } };
    const report = reportOf({ plan: degrade, slices, agents });
    const named = report.books.filter((book) => book.equation.includes('not reported by b'));
    expect(named.map(({ left, right, holds }) => [left, right, holds])).toEqual([
      [40, 40, true],
      [39, 39, true],
    ]);
    expect(check(report, 'agent_lost')).toMatchObject([{ state: 'degraded', agent: 'b' }]);
    expect(report.agents[1]).toMatchObject({ state: 'lost', lostAt: '2026-11-30T12:00:05.000Z' });
    expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 });
  });

  it('do not call "not yet due" what a lost agent left, in a run that went to its end', () => {
    const slices = changed('b', 1, (slice) => ({
      ...slice,
      series: [...slice.series, counter('planned', 30, { qos: 1 })],
    }));
    const agents = [
      agentOf('a', { framesProduced: 5, framesReceived: 5 }),
      agentOf('b', { state: 'lost', framesProduced: null, framesReceived: 5 }),
    ];
    const book = reportOf({ slices, agents }).books.find((one) => one.left === 70);
    expect(book).toEqual({
      equation: 'devices: planned = scheduled + not yet due at the end + not reported by b',
      left: 70,
      right: 70,
      holds: true,
    });
  });

  it('do not blame a lost agent for what a healthy one leaves over', () => {
    const slices = changed('a', 2, (slice) => ({
      ...slice,
      series: [
        ...slice.series,
        counter('scheduled', 1, { qos: 1 }),
        counter('planned', 1, { qos: 1 }),
      ],
    }));
    const agents = [
      agentOf('a', { framesProduced: 5, framesReceived: 5 }),
      agentOf('b', { state: 'lost', framesProduced: null, framesReceived: 5 }),
    ];
    const report = reportOf({ slices, agents });
    expect(report.books.some((book) => !book.holds)).toBe(true);
  });

  it('hold for QoS 0, where sent is the end', () => {
    const quick = planOf([]);
    const qos0 = {
      ...quick,
      groups: quick.groups.map((group) => ({
        ...group,
        publish: group.publish.map((stream) => ({ ...stream, qos: 0 as const })),
      })),
    };
    const second = ['planned', 'scheduled', 'sent', 'published'].map((metric) =>
      counter(metric as 'sent', 5, { qos: 0 }),
    );
    const report = reportOf({
      plan: qos0,
      slices: { a: [sliceOf({ n: 0 }, [...connecting(10), ...second])] },
    });
    expect(report.books.every((book) => book.holds)).toBe(true);
    expect(report.books.some((book) => book.equation.startsWith('devices: sent = published'))).toBe(
      true,
    );
  });
});

function late(ms: number) {
  return [times('lateness', [ms, ms, ms], { qos: 1 })];
}

function withLateness(ms: readonly number[]): Report {
  const seconds = ms.map((one, at) => sliceOf({ n: at * 10 }, late(one)));
  const slices = {
    a: [sliceOf({ n: 0 }, [...connecting(10), ...healthySecond(10)]), ...seconds],
  };
  return reportOf({ slices });
}

describe('validity', () => {
  it.each([
    [[60, 60, 60, 1], 'degraded'],
    [[60, 1, 60, 60], 'valid'],
    [[600, 600, 600], 'invalid'],
    [[600, 600, 60, 600], 'degraded'],
    [[60], 'valid'],
    [[600], 'degraded'],
  ])('looks at lateness that lasts: %j is %s', (ms, state) => {
    const report = withLateness(ms);
    expect(report.validity.state).toBe(state);
    expect(check(report, 'lateness').length).toBe(state === 'valid' ? 0 : 1);
  });

  it('leaves warm-up out', () => {
    const warm = planOf([], [stageOf('publish', 0, { warmup: true })]);
    const seconds = [0, 1, 2, 3].map((at) => sliceOf({ n: at * 10 }, late(600)));
    const slices = {
      a: [sliceOf({ n: 0 }, [...connecting(10), ...healthySecond(10)]), ...seconds],
    };
    expect(reportOf({ plan: warm, slices }).validity.state).toBe('valid');
  });

  it.each([
    [1, 2_000, 'valid'],
    [3, 2_000, 'degraded'],
    [30, 2_000, 'invalid'],
  ])('counts %i of %i dropped by the generator as %s', (dropped, scheduled, state) => {
    const series = [
      ...healthySecond(scheduled),
      counter('planned', dropped, { qos: 1 }),
      counter('scheduled', dropped, { qos: 1 }),
      counter('dropped', dropped, { qos: 1, reason: 'generator' }),
    ];
    const report = reportOf({ slices: { a: [sliceOf({ n: 0 }, [...connecting(10), ...series])] } });
    expect(report.validity.state).toBe(state);
  });

  it('does not take messages dropped by a full window for the generator’s fault', () => {
    const series = [
      ...healthySecond(10),
      counter('planned', 10, { qos: 1 }),
      counter('scheduled', 10, { qos: 1 }),
      counter('dropped', 10, { qos: 1, reason: 'window' }),
    ];
    const report = reportOf({ slices: { a: [sliceOf({ n: 0 }, [...connecting(10), ...series])] } });
    expect(report.validity.state).toBe('valid');
  });

  it.each([
    [10_000, 9_999, 'degraded'],
    [10, 9, 'invalid'],
  ])('misses frames: %i made, %i arrived is %s', (framesProduced, framesReceived, state) => {
    const agents = [agentOf('a', { framesProduced, framesReceived }), agentOf('b')];
    expect(reportOf({ agents }).validity.state).toBe(state);
  });

  it('does not trust an agent that never said how many frames it made', () => {
    const agents = [agentOf('a', { framesProduced: null }), agentOf('b')];
    expect(check(reportOf({ agents }), 'frames_missing')).toMatchObject([
      { state: 'degraded', agent: 'a' },
    ]);
  });

  it.each([
    [90_000, 'valid'],
    [150_000, 'degraded'],
    [1_500_000, 'invalid'],
  ])('measures start skew between agents: %i µs is %s', (startSkewUs, state) => {
    const agents = [agentOf('a', { startSkewUs: 0 }), agentOf('b', { startSkewUs })];
    expect(reportOf({ agents }).validity.state).toBe(state);
  });

  it('tells an overflow of the histograms', () => {
    const slices = changed('a', 2, (slice) => ({
      ...slice,
      series: [...slice.series, times('publish_time', [4_000_000], { qos: 1 })],
    }));
    expect(check(reportOf({ slices }), 'histogram_overflow')).toMatchObject([
      { state: 'degraded', observed: 1 },
    ]);
  });

  it('follows onAgentLoss for lost agents and workers', () => {
    const workersLost = [{ worker: 0, reason: 'it was killed by SIGKILL' }];
    const agents = [agentOf('a', { workersLost }), agentOf('b')];
    expect(reportOf({ agents })).toMatchObject({ verdict: 'inconclusive', exitCode: 111 });
    const degrade = { ...plan, limits: { ...plan.limits, onAgentLoss: 'degrade' as const } };
    expect(reportOf({ plan: degrade, agents })).toMatchObject({ verdict: 'pass', exitCode: 0 });
    const strict = { more: { run: { ...RUN, strict: true } } };
    expect(reportOf({ plan: degrade, agents, ...strict })).toMatchObject({ exitCode: 111 });
  });

  it('has checks that can be switched off', () => {
    const off = { degraded: null, invalid: null };
    const calm = {
      ...plan,
      limits: { ...plan.limits, generator: { ...plan.limits.generator, startSkewUs: off } },
    };
    const agents = [agentOf('a', { startSkewUs: 0 }), agentOf('b', { startSkewUs: 9e6 })];
    expect(reportOf({ plan: calm, agents }).validity.state).toBe('valid');
  });
});

describe('a run that tested nothing', () => {
  it('does not pass, though it has no threshold that notices', () => {
    const refused = [
      counter('connect_attempts', 10),
      counter('connect_failed', 10, { reason: 'ECONNREFUSED' }),
    ];
    const report = reportOf({
      plan: planOf([]),
      slices: { a: [sliceOf({ phase: 'prologue', n: 0 }, refused)] },
    });
    expect(report).toMatchObject({ verdict: 'inconclusive', exitCode: 112 });
    expect(report.reasons[0]).toBe(
      'nothing was tested with devices: none of its clients could connect (ECONNREFUSED)',
    );
  });

  it('does not pass when everybody connected and nothing was published', () => {
    const nothing = [
      counter('planned', 10, { qos: 1 }),
      counter('scheduled', 10, { qos: 1 }),
      counter('sent', 10, { qos: 1 }),
      counter('publish_failed', 10, {
        qos: 1,
        reason: 'no acknowledgement by the end of the drain',
      }),
    ];
    const report = reportOf({
      plan: planOf([]),
      slices: { a: [sliceOf({ n: 0 }, [...connecting(10), ...nothing])] },
    });
    expect(report.verdict).toBe('inconclusive');
    expect(report.reasons[0]).toContain('no acknowledgement by the end of the drain');
  });
});

describe('a run that never began', () => {
  it('has a report all the same', () => {
    const report = buildReport({
      ...inputOf({ plan, slices: {} }),
      aggregate: null,
      stages: [],
      agents: [
        agentOf('a', {
          state: 'refused',
          reason: 'not enough descriptors',
          framesProduced: null,
          framesReceived: 0,
        }),
      ],
      outcome: { kind: 'agents', reasons: ['agent a refused its share: not enough descriptors'] },
    });
    expect(checkReport(report)).toEqual([]);
    expect(report).toMatchObject({
      verdict: 'error',
      exitCode: 113,
      validity: { state: 'invalid' },
    });
    expect(report.reasons[0]).toContain('not enough descriptors');
  });
});

describe('a run that is stopped before its load', () => {
  const outcome = { kind: 'cancelled', by: 'signal', reasons: ['stopped by a signal'] } as const;
  const agents = [agentOf('a', { framesProduced: 0, framesReceived: 0 })];

  it.each([
    ['while it waits for agents', { aggregate: null, agents: [] }],
    ['when every agent is ready', { agents }],
  ])('%s has nothing to say against its generator', (_, more) => {
    const input = { ...inputOf({ plan, slices: {} }), stages: [], outcome, ...more };
    const report = buildReport(input);
    expect(checkReport(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'cancelled', exitCode: 105 });
    expect(report.validity.state).toBe('valid');
    expect(report.validity.findings).toMatchObject([{ check: 'load_began', state: 'note' }]);
    expect(report.reasons[0]).toBe('stopped by a signal');
    expect(report.reasons.join()).not.toContain('healthy');
  });
});

describe('secrets', () => {
  it('stand in no report', () => {
    const secret = 'hunter2';
    const vars = { broker: `mqtt://user:${secret}@host:1883`, dbPassword: secret, plain: 'x' };
    const withSecrets = {
      ...plan,
      vars,
      groups: plan.groups.map((group) => ({ ...group, password: secret })),
    };
    const report = reportOf({ plan: withSecrets });
    expect(JSON.stringify(report)).not.toContain(secret);
    expect(report.run.vars['plain']).toBe('x');
  });
});

describe('failures', () => {
  it('are told by reason with their examples, the most frequent first', () => {
    const failed = [
      counter('publish_failed', 2, { qos: 1, reason: 'rare' }),
      counter('publish_failed', 7, { qos: 1, reason: 'often' }),
      counter('sent', 9, { qos: 1 }),
      counter('scheduled', 9, { qos: 1 }),
      counter('planned', 9, { qos: 1 }),
    ];
    const example = {
      metric: 'publish_failed' as const,
      subject: 'devices',
      reason: 'rare',
      client: 'c1',
      address: '127.0.0.1:1883',
      atUs: 1_500_000,
    };
    const slices = changed('a', 1, (slice) => ({
      ...slice,
      series: [...slice.series, ...failed],
      examples: [example],
    }));
    const report = reportOf({ slices });
    expect(report.failures.map(({ reason, count }) => [reason, count])).toEqual([
      ['often', 7],
      ['rare', 2],
    ]);
    expect(report.failures[1]?.examples).toEqual([
      { client: 'c1', agent: 'a', address: '127.0.0.1:1883', at: '2026-11-30T12:00:01.500Z' },
    ]);
    expect(report.groups['devices']?.reasons['publish_failed']).toEqual({ rare: 2, often: 7 });
    expect(report).toMatchObject({ verdict: 'fail', exitCode: 99 });
  });
});

describe('a generator that was held up', () => {
  const line = 'publish_time: p(99) < 1s over 5s';

  /** Ten seconds of two agents; in the seventh one of them comes back from a stall. */
  function stalled(lateMs: number, publishMs: number): Report {
    const stall = [
      times('publish_time', Array<number>(10).fill(publishMs), { qos: 1 }),
      times('lateness', Array<number>(10).fill(lateMs), { qos: 1 }),
    ];
    const seconds = (isStalled: boolean) =>
      Array.from({ length: 10 }, (_, n) =>
        sliceOf({ n }, [
          ...(n === 0 ? connecting(10) : []),
          ...healthySecond(10),
          ...(isStalled && n === 6 ? stall : []),
        ]),
      );
    return reportOf({
      plan: planOf([line]),
      slices: { a: seconds(false), b: seconds(true) },
    });
  }

  it('is named beside the threshold that it broke, and one such window is degraded', () => {
    const report = stalled(5_000, 5_005);
    const at = report.reasons.findIndex((reason) => reason.includes(`"${line}" does not hold`));
    expect(report.verdict).toBe('fail');
    expect(report.reasons[at + 1]).toContain('the generator itself was late by up to 5s (agent b)');
    expect(report.reasons[at + 1]).toContain('wholly or in part');
    expect(report.validity.state).toBe('degraded');
    expect(check(report, 'lateness')[0]).toMatchObject({ agent: 'b', state: 'degraded' });
  });

  it('is no excuse for a broker that is much slower than it was late', () => {
    const report = stalled(60, 5_005);
    expect(report.verdict).toBe('fail');
    expect(report.reasons.join('\n')).not.toContain('the generator itself');
    expect(report.validity.state).toBe('valid');
  });
});
