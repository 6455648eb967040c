import { describe, expect, test } from 'vitest';
import { groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';
import { VirtualRun, type VirtualRunOptions } from './fixture/virtual-run.ts';
import type { Group, PublishStream } from '@squall/core/plan';

interface Case {
  stream?: Partial<PublishStream>;
  group?: Partial<Group>;
  forUs?: number;
  backlogUs?: number;
  drainUs?: number;
  run?: VirtualRunOptions;
}

/** Connected clients that publish from 1 s of the run's timeline on. */
function publishRun(parts: Case): VirtualRun {
  const group = groupOf({ clients: 4, publish: [streamOf(parts.stream)], ...parts.group });
  const plan = planOf({
    groups: [group],
    stages: [
      { run: [{ group: 0, activities: [{ kind: 'connect' }] }] },
      { run: [{ group: 0, activities: [publishing(group)] }], forUs: parts.forUs ?? 2e6 },
    ],
    ...(parts.backlogUs === undefined ? {} : { backlogUs: parts.backlogUs }),
    ...(parts.drainUs === undefined ? {} : { drainUs: parts.drainUs }),
  });
  const run = new VirtualRun(plan, parts.run ?? {});
  run.advance(0, 0);
  run.runTo(0.5e6);
  run.advance(1, 1e6);
  run.runTo(1e6);
  return run;
}

const reasons = (run: VirtualRun, metric: string) => run.books.reasons(metric, 'devices');
const count = (run: VirtualRun, metric: string) => run.books.counter(metric, 'devices', 1);

describe('a broker that does not acknowledge', () => {
  test('fills the window; what then waits beyond the backlog is dropped as "window"', () => {
    const run = publishRun({ stream: { inflight: 3 }, backlogUs: 500e3 });
    run.broker.ackUs = Number.POSITIVE_INFINITY;
    run.runTo(10e6);
    run.load.engine.finish();
    expect(count(run, 'sent')).toBe(12);
    expect(reasons(run, 'dropped')).toEqual({ window: 68 });
    expect(reasons(run, 'publish_failed')).toEqual({
      'no acknowledgement by the end of the drain': 12,
    });
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('frozen for a while: what waited goes out with its old due time, in order', () => {
    const run = publishRun({ stream: { inflight: 2 }, forUs: 4e6 });
    run.broker.ackUs = 1_500e3;
    run.runTo(2e6);
    run.broker.ackUs = 500;
    run.runTo(10e6);
    run.load.engine.finish();
    expect(count(run, 'acked')).toBe(160);
    expect(run.books.time('wait_time', 'devices').maxUs).toBeGreaterThan(1_000e3);
    expect(run.books.time('publish_time', 'devices').maxUs).toBeGreaterThan(1_500e3);
    expect(run.books.time('lateness', 'devices').maxUs).toBeLessThanOrEqual(1_000);
    const first = run.clients[0]?.published.filter(({ slot }) => slot === 0) ?? [];
    const seqs = first.map(({ payload }) => payload.readUInt32BE(14));
    expect(seqs).toEqual(seqs.map((_, k) => k));
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('an acknowledgement time-out fails the message, frees its place and counts a late PUBACK nowhere', () => {
    const run = publishRun({ stream: { inflight: 1, ackTimeoutUs: 300e3 }, forUs: 1e6 });
    run.broker.ackUs = 800e3;
    run.runTo(10e6);
    run.load.engine.finish();
    const failed = reasons(run, 'publish_failed')['no acknowledgement within the time-out'] ?? 0;
    expect(failed).toBe(count(run, 'sent'));
    expect(failed).toBeGreaterThan(4);
    expect(count(run, 'acked')).toBe(0);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });
});

describe('a connection that breaks', () => {
  test('fails what is in flight, keeps what falls due until the reconnect, and sends it then', () => {
    const run = publishRun({ stream: { inflight: 5 }, forUs: 4e6 });
    run.broker.ackUs = 250e3;
    run.runTo(2e6);
    run.clients[0]?.break(0);
    run.runTo(12e6);
    run.load.engine.finish();
    expect(reasons(run, 'disconnected')).toEqual({ 'connection reset': 1 });
    expect(reasons(run, 'publish_failed')['connection lost']).toBeGreaterThan(0);
    expect(reasons(run, 'dropped')).toEqual({});
    expect(run.books.counter('connect_attempts', 'devices')).toBe(5);
    expect(run.books.time('wait_time', 'devices').maxUs).toBeGreaterThan(900e3);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('for longer than the backlog drops what fell due as "not_connected"', () => {
    const run = publishRun({ backlogUs: 300e3, forUs: 3e6 });
    run.broker.refuse = () => 'connection refused';
    run.clients[0]?.break(1);
    run.runTo(12e6);
    run.load.engine.finish();
    expect(reasons(run, 'dropped')).toEqual({ not_connected: 30 });
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('of a kept session: resends with DUP what has no acknowledgement, counted apart', () => {
    const run = publishRun({
      stream: { inflight: 5 },
      group: { connect: { ...groupOf().connect, cleanStart: false } },
      forUs: 3e6,
    });
    run.broker.ackUs = Number.POSITIVE_INFINITY;
    run.runTo(1.4e6);
    run.clients[0]?.break(2);
    run.broker.ackUs = 500;
    run.runTo(12e6);
    const published = run.clients[0]?.published.filter(({ slot }) => slot === 2) ?? [];
    const again = published.filter(({ dup }) => dup);
    expect(again.length).toBeGreaterThanOrEqual(3);
    for (const [k, each] of again.entries()) {
      expect(each.payload).toEqual(published[k]?.payload);
      expect(each.packetId).toBe(published[k]?.packetId);
    }
    run.load.engine.finish();
    expect(count(run, 'retransmitted')).toBe(again.length);
    expect(reasons(run, 'publish_failed')['connection lost']).toBeUndefined();
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });
});

describe('a worker that gets no time', () => {
  test('is late, says so, and drops only what is older than the backlog, as "generator"', () => {
    const run = publishRun({ backlogUs: 400e3, forUs: 3e6 });
    run.runTo(1.5e6);
    run.stall(1_000e3);
    run.runTo(10e6);
    run.load.engine.finish();
    const late = run.books.time('lateness', 'devices');
    expect(late.count).toBe(count(run, 'scheduled'));
    expect(late.maxUs).toBeGreaterThan(900e3);
    expect(reasons(run, 'dropped')).toEqual({ generator: 24 });
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('does not blame the window for acknowledgements that it had no time to read', () => {
    const run = publishRun({ stream: { inflight: 1 }, backlogUs: 500e3, forUs: 3e6 });
    run.broker.ackUs = 150e3;
    run.runTo(2e6);
    run.stall(450e3);
    run.broker.ackUs = 500;
    run.runTo(10e6);
    run.load.engine.finish();
    expect(reasons(run, 'dropped')).toEqual({});
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });
});

describe('QoS 0', () => {
  test('is sent and published once nothing is left in user space', () => {
    const run = publishRun({ stream: { qos: 0 }, forUs: 1e6 });
    run.broker.takes = (slot) => slot !== 0;
    run.runTo(1.5e6);
    run.runTo(2.001e6);
    expect(count(run, 'scheduled')).toBe(40);
    expect(count(run, 'sent')).toBe(30);
    run.broker.takes = null;
    run.clients[0]?.drain(0);
    run.runTo(3e6);
    run.load.engine.finish();
    expect(count(run, 'sent')).toBe(40);
    expect(run.books.imbalances('devices', { qos: 0 })).toEqual([]);
  });

  test('treats 64 KiB in user space as a full window: "backpressure"', () => {
    const run = publishRun({
      stream: { qos: 0, payload: { kind: 'size', bytes: 30_000, fill: 'repeat' } },
      backlogUs: 300e3,
      forUs: 2e6,
    });
    run.broker.takes = () => false;
    run.runTo(10e6);
    run.load.engine.finish();
    expect(reasons(run, 'dropped')).toEqual({ backpressure: 68 });
    expect(reasons(run, 'publish_failed')).toEqual({
      'not sent: no room in the socket by the end of the drain': 12,
    });
    expect(run.books.imbalances('devices', { qos: 0 })).toEqual([]);
  });

  test('lost with bytes in user space was never sent', () => {
    const run = publishRun({ stream: { qos: 0 }, forUs: 1e6 });
    run.broker.takes = (slot) => slot !== 3;
    run.runTo(1.3e6);
    run.clients[0]?.break(3);
    run.broker.takes = null;
    run.runTo(10e6);
    run.load.engine.finish();
    expect(reasons(run, 'publish_failed')).toEqual({ 'not sent: connection lost': 3 });
    expect(run.books.imbalances('devices', { qos: 0 })).toEqual([]);
  });
});

describe('the end of the load', () => {
  test('hard: names what waits and what is in flight, cuts, and drains at once', () => {
    const run = publishRun({ stream: { inflight: 2 }, forUs: 60e6 });
    run.broker.ackUs = Number.POSITIVE_INFINITY;
    run.runTo(2e6);
    run.load.engine.stop('hard');
    expect(run.states.at(-1)).toBe('1 drained');
    expect(run.clients[0]?.connectedCount).toBe(0);
    run.runTo(4e6);
    run.load.engine.finish();
    expect(reasons(run, 'unfinished')).toEqual({ waiting: 32, in_flight: 8 });
    expect(count(run, 'planned')).toBe(2400);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('graceful: ends the stage now and waits for acknowledgements', () => {
    const run = publishRun({ forUs: 60e6 });
    run.broker.ackUs = 800e3;
    run.runTo(2e6);
    run.load.engine.stop('graceful');
    run.runTo(5e6);
    expect(run.states.at(-1)).toBe('1 drained');
    run.load.engine.finish();
    expect(count(run, 'acked')).toBe(count(run, 'scheduled'));
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });
});

describe('limits by index', () => {
  test('count ends a stage by completion, exactly', () => {
    const group = groupOf({ clients: 4, publish: [streamOf({ count: 30 })] });
    const plan = planOf({
      groups: [group],
      stages: [{ run: [{ group: 0, activities: [publishing(group)] }] }],
    });
    const run = new VirtualRun(plan);
    run.advance(0, 0);
    run.runTo(0.5e6);
    run.clock(0, 0.6e6);
    run.runTo(3e6);
    expect(run.states).toEqual(['0 prologue_done', '0 complete']);
    run.load.engine.finish();
    expect(run.books.counter('planned', 'devices')).toBe(30);
    expect(run.books.counter('acked', 'devices')).toBe(30);
  });

  test('a closed loop keeps its window full and reports service time only', () => {
    const run = publishRun({ stream: { pace: { kind: 'max' }, inflight: 3 }, forUs: 2e6 });
    run.broker.ackUs = 10e3;
    run.runTo(2.1e6);
    expect(run.books.gauge('inflight', 'devices')).toBe(12);
    run.runTo(5e6);
    run.load.engine.finish();
    expect(count(run, 'acked')).toBeGreaterThan(1100);
    expect(count(run, 'planned')).toBe(count(run, 'scheduled'));
    expect(run.books.time('publish_time', 'devices').count).toBe(0);
    expect(run.books.time('lateness', 'devices').count).toBe(0);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('a closed loop with a count sends exactly that', () => {
    const group = groupOf({
      clients: 4,
      publish: [streamOf({ pace: { kind: 'max' }, inflight: 2, count: 333 })],
    });
    const plan = planOf({
      groups: [group],
      stages: [{ run: [{ group: 0, activities: [publishing(group)] }] }],
    });
    const run = new VirtualRun(plan);
    run.advance(0, 0);
    run.runTo(0.5e6);
    run.clock(0, 0.6e6);
    run.runTo(3e6);
    run.load.engine.finish();
    expect(run.states).toContain('0 complete');
    expect(run.books.counter('acked', 'devices')).toBe(333);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('a closed loop at QoS 0 stops at 64 KiB in user space', () => {
    const run = publishRun({
      stream: {
        qos: 0,
        pace: { kind: 'max' },
        payload: { kind: 'size', bytes: 10_000, fill: 'repeat' },
      },
      forUs: 1e6,
    });
    run.broker.takes = () => false;
    const before = run.clients[0]?.published.length ?? 0;
    run.runTo(1.1e6);
    const after = run.clients[0]?.published.length ?? 0;
    expect(after - before).toBeLessThanOrEqual(4 * 8);
  });
});
