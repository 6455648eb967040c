import { describe, expect, test } from 'vitest';
import { entryOf, groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';
import { VirtualRun } from './fixture/virtual-run.ts';

const devices = groupOf({ publish: [streamOf()] });
const connectThenPublish = (parts: { forUs: number }) =>
  planOf({
    groups: [devices],
    stages: [
      { run: [{ group: 0, activities: [{ kind: 'connect' }] }] },
      { run: [{ group: 0, activities: [publishing(devices)] }], forUs: parts.forUs },
    ],
  });

describe('a run in one worker', () => {
  test('connects, publishes by the schedule, drains, and its books add up', () => {
    const run = new VirtualRun(connectThenPublish({ forUs: 2e6 }));
    run.advance(0, 0);
    run.runTo(1e6);
    expect(run.states).toEqual(['0 complete']);
    expect(run.books.counter('connected', 'devices')).toBe(10);
    run.advance(1, 2e6);
    run.runTo(6e6);
    expect(run.states).toEqual(['0 complete', '1 drained']);
    expect(run.skewUs).toBeLessThanOrEqual(1_000);
    run.load.engine.finish();
    const count = (metric: string): number => run.books.counter(metric, 'devices', 1);
    expect(count('planned')).toBe(200);
    expect(count('scheduled')).toBe(200);
    expect(count('sent')).toBe(200);
    expect(count('acked')).toBe(200);
    expect(count('bytes_sent')).toBe(20_000);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
    expect(run.books.time('lateness', 'devices').maxUs).toBeLessThanOrEqual(1_000);
    expect(run.books.time('publish_time', 'devices').count).toBe(200);
  });

  const until = {
    text: 'devices.sent >= 1000',
    subject: 'devices',
    metric: 'sent',
    op: '>=',
    value: 1000,
    fromRun: false,
  } as const;

  test.each([
    ['with a count is complete when they are acknowledged', 30, ['0 complete', '1 complete']],
    ['without one is never complete', null, ['0 complete']],
  ])('a stage with until whose messages go on %s', (_what, count, states) => {
    const group = groupOf({ publish: [streamOf({ count })] });
    const plan = planOf({
      groups: [group],
      stages: [
        { run: [{ group: 0, activities: [{ kind: 'connect' }] }] },
        { run: [{ group: 0, activities: [publishing(group)] }], until },
      ],
    });
    const run = new VirtualRun(plan);
    run.advance(0, 0);
    run.runTo(1e6);
    run.advance(1, 1e6);
    run.runTo(6e6);
    expect(run.states).toEqual(states);
  });

  test('a stage with until that only connects is not complete by that', () => {
    const stage = { run: [{ group: 0, activities: [{ kind: 'connect' as const }] }], until };
    const run = new VirtualRun(planOf({ groups: [devices], stages: [stage] }));
    run.advance(0, 0);
    run.runTo(3e6);
    expect(run.states).toEqual([]);
  });

  test('answers that fit nothing are counted by their reason, with an example', () => {
    const run = new VirtualRun(connectThenPublish({ forUs: 2e6 }));
    run.advance(0, 0);
    run.runTo(0.5e6);
    const { load } = run;
    const handlers = run.clients[0]?.handlers;
    handlers?.onPuback(3, 77, 0);
    handlers?.onPuback(3, 78, 0);
    handlers?.onSuback(4, { packetId: 9, bytes: Buffer.from([1]), codesAt: 0, codesLength: 1 });
    run.advance(1, 1e6);
    run.runTo(4e6);
    load.engine.finish();
    expect(run.books.reasons('protocol_errors', 'devices')).toEqual({
      'PUBACK for a message that is not in flight [MQTT-2.3.1-6]': 2,
      'SUBACK for a subscription that was not asked for [MQTT-2.3.1-7]': 1,
    });
    const examples = run.books.slices.flatMap((slice) => slice.examples);
    expect(examples.filter(({ metric }) => metric === 'protocol_errors')).toHaveLength(3);
  });

  test('cuts slices at whole seconds of the stage, without gaps', () => {
    const run = new VirtualRun(connectThenPublish({ forUs: 1.5e6 }));
    run.advance(0, 0);
    run.runTo(1.2e6);
    run.advance(1, 1.3e6);
    run.runTo(4e6);
    run.load.engine.finish();
    const cuts = run.books.slices.map(({ stage, phase, n, fromUs, toUs }) => {
      return [stage, phase, n, Math.round(fromUs), Math.round(toUs)];
    });
    expect(cuts).toEqual([
      [0, 'main', 0, 0, 1e6],
      [0, 'main', 1, 1e6, 1.3e6],
      [1, 'main', 0, 1.3e6, 2.3e6],
      [1, 'main', 1, 2.3e6, 2.8e6],
      [1, 'settle', 0, 2.8e6, 3.8e6],
      [1, 'settle', 1, 3.8e6, 4e6],
    ]);
  });

  test('puts what is due in a second into the slice of that second', () => {
    const run = new VirtualRun(connectThenPublish({ forUs: 3e6 }));
    run.advance(0, 0);
    run.runTo(0.9e6);
    run.advance(1, 1e6);
    run.runTo(5e6);
    const scheduled = run.books.slices.map(
      (slice) => slice.series.find((each) => each.metric === 'scheduled')?.value,
    );
    expect(scheduled.slice(1, 4)).toEqual([100, 100, 100]);
  });

  test('waits for the barrier after a prologue, and counts the stage from there', () => {
    const readers = groupOf({ name: 'readers', clients: 3, subscribe: [entryOf()] });
    const plan = planOf({
      groups: [devices, readers],
      stages: [
        {
          run: [
            { group: 1, activities: [{ kind: 'subscribe', entry: 0 }] },
            { group: 0, activities: [publishing(devices)] },
          ],
          forUs: 1e6,
        },
      ],
    });
    const run = new VirtualRun(plan);
    run.advance(0, 0);
    run.runTo(0.5e6);
    expect(run.states).toEqual(['0 prologue_done']);
    expect(run.books.counter('scheduled', 'devices')).toBe(0);
    expect(run.clients[1]?.subscribed).toHaveLength(3);
    run.clock(0, 1.25e6);
    run.runTo(4e6);
    run.load.engine.finish();
    expect(run.books.counter('acked', 'devices')).toBe(100);
    expect(run.books.counter('subscribed', 'readers')).toBe(3);
    expect(run.books.slices.map(({ phase, n }) => `${phase} ${n}`).slice(0, 3)).toEqual([
      'prologue 0',
      'prologue 1',
      'main 0',
    ]);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('lets a stream go on without a gap into a stage that runs it too', () => {
    const plan = planOf({
      groups: [devices],
      stages: [
        { run: [{ group: 0, activities: [{ kind: 'connect' }] }] },
        { run: [{ group: 0, activities: [publishing(devices)] }], forUs: 1e6 },
        { run: [{ group: 0, activities: [publishing(devices)] }], forUs: 1e6 },
      ],
    });
    const run = new VirtualRun(plan, { broker: { ackUs: 300_000 } });
    run.advance(0, 0);
    run.advance(0, 0);
    run.runTo(0.9e6);
    run.advance(1, 1e6);
    run.runTo(8e6);
    run.load.engine.finish();
    for (const stage of [1, 2]) {
      expect(run.books.counter('planned', 'devices', stage)).toBe(100);
      expect(run.books.counter('acked', 'devices', stage)).toBe(100);
      expect(run.books.imbalances('devices', { qos: 1, stage })).toEqual([]);
    }
    const times = run.clients[0]?.published.map(({ atUs }) => atUs) ?? [];
    const gaps = times.slice(1).map((atUs, k) => atUs - (times[k] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(12_000);
  });

  test('an unreachable broker makes every client fail after its retries, and the stage complete', () => {
    const run = new VirtualRun(connectThenPublish({ forUs: 1e6 }), {
      broker: { refuse: () => 'connection refused' },
    });
    run.advance(0, 0);
    run.runTo(15e6);
    expect(run.states).toEqual(['0 complete']);
    expect(run.failed[0]).toEqual({ devices: 10 });
    run.advance(1, 16e6);
    run.runTo(18e6);
    run.load.engine.finish();
    expect(run.books.counter('connect_attempts', 'devices')).toBe(40);
    expect(run.books.reasons('connect_failed', 'devices')).toEqual({ 'connection refused': 40 });
    expect(run.books.reasons('dropped', 'devices')).toEqual({ not_connected: 100 });
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
    const examples = run.books.slices
      .flatMap((slice) => slice.examples)
      .filter(({ metric }) => metric === 'connect_failed');
    expect(examples).toHaveLength(20);
    expect(examples[0]).toMatchObject({ address: '127.0.0.1:1883', reason: 'connection refused' });
  });

  test('states its connections once in each slice, for the current stage', () => {
    const run = new VirtualRun(connectThenPublish({ forUs: 2e6 }), { broker: { ackUs: 700e3 } });
    run.advance(0, 0);
    run.runTo(1.2e6);
    run.advance(1, 1.5e6);
    run.runTo(6e6);
    run.load.engine.finish();
    for (const slice of run.books.slices) {
      const stated = slice.series.filter(({ metric }) => metric === 'connections');
      expect(stated.map(({ stage, value }) => [stage, value])).toEqual([[slice.stage, 10]]);
    }
  });
});
