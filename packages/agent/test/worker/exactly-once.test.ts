import type { Group, MqttVersion, PublishStream } from '@squall/core/plan';
import { describe, expect, test } from 'vitest';
import { groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';
import { VirtualRun, type VirtualRunOptions } from './fixture/virtual-run.ts';

interface Case {
  readonly version?: MqttVersion;
  readonly stream?: Partial<PublishStream>;
  readonly group?: Partial<Group>;
  readonly run?: VirtualRunOptions;
}

const KEPT: Partial<Group> = {
  connect: { ...groupOf().connect, cleanStart: false, sessionExpiryS: 3_600 },
};

/** Four connected clients that publish every 100 ms from 1 s of the run's timeline on, for 2 s. */
function publishRun(parts: Case): VirtualRun {
  const stream = streamOf({ qos: 2, ...parts.stream });
  const group = groupOf({ clients: 4, publish: [stream], ...parts.group });
  const plan = planOf({
    groups: [group],
    stages: [
      { run: [{ group: 0, activities: [{ kind: 'connect' }] }] },
      { run: [{ group: 0, activities: [publishing(group)] }], forUs: 2e6 },
    ],
    version: parts.version ?? '5',
  });
  const run = new VirtualRun(plan, parts.run ?? {});
  run.advance(0, 0);
  run.runTo(0.5e6);
  run.advance(1, 1e6);
  run.runTo(1e6);
  return run;
}

const finish = (run: VirtualRun): void => {
  run.runTo(20e6);
  run.load.engine.finish();
};
const reasons = (run: VirtualRun, metric: string) => run.books.reasons(metric, 'devices');
const count = (run: VirtualRun, metric: string) => run.books.counter(metric, 'devices', 1);

describe('QoS 2', () => {
  test('a message is acknowledged by PUBCOMP, and its time runs until then', () => {
    const run = publishRun({ run: { broker: { ackUs: 20e3 } } });
    finish(run);
    expect(count(run, 'acked')).toBe(80);
    expect(run.books.time('service_time', 'devices').minUs).toBeGreaterThanOrEqual(40e3);
    expect(run.books.imbalances('devices', { qos: 2 })).toEqual([]);
  });

  test('without PUBCOMP there is no acknowledgement, and the place in the window stays taken', () => {
    const run = publishRun({ stream: { inflight: 3 }, run: { broker: { completes: false } } });
    finish(run);
    expect(count(run, 'acked')).toBe(0);
    expect(count(run, 'sent')).toBe(12);
    expect(reasons(run, 'publish_failed')).toEqual({
      'no acknowledgement by the end of the drain': 12,
    });
    expect(run.books.imbalances('devices', { qos: 2 })).toEqual([]);
  });

  test('a kept session releases again what PUBREC came for, and sends the rest with DUP', () => {
    const run = publishRun({
      group: KEPT,
      run: { broker: { completes: false, keepsSessions: true } },
    });
    run.runTo(1.45e6);
    run.broker.ackUs = Number.POSITIVE_INFINITY;
    run.runTo(1.65e6);
    const [clients] = run.clients;
    const before = clients?.published.length ?? 0;
    clients?.break(0);
    run.broker.ackUs = 500;
    run.broker.completes = true;
    run.runTo(3e6);
    const again = clients?.published.slice(before).filter(({ dup }) => dup) ?? [];
    const released = clients?.released.filter(({ slot }) => slot === 0) ?? [];
    expect(released.length).toBeGreaterThan(0);
    expect(again.length).toBeGreaterThan(0);
    expect(count(run, 'retransmitted')).toBe(released.length + again.length);
    const ids = [...released, ...again].map(({ packetId }) => packetId);
    expect(new Set(ids).size).toBe(ids.length);
    finish(run);
    expect(run.books.imbalances('devices', { qos: 2 })).toEqual([]);
  });

  test.each([
    [
      'PUBREC of nothing',
      (run: VirtualRun) => run.clients[0]?.handlers.onPubrec(0, 999, 0),
      'PUBREC for a message that is not in flight at QoS 2 [MQTT-2.3.1-6]',
    ],
    [
      'PUBCOMP before PUBREC',
      (run: VirtualRun) => run.clients[0]?.handlers.onPubcomp(0, 1, 0),
      'PUBCOMP for a message that was not released [MQTT-4.3.3-1]',
    ],
    [
      'PUBACK for a QoS 2 message',
      (run: VirtualRun) => run.clients[0]?.handlers.onPuback(0, 1, 0),
      'PUBACK for a message that is not in flight [MQTT-2.3.1-6]',
    ],
  ])('%s is counted, and nothing is acknowledged by it', (_name, act, reason) => {
    const run = publishRun({ run: { broker: { ackUs: Number.POSITIVE_INFINITY } } });
    run.runTo(1.2e6);
    act(run);
    finish(run);
    expect(reasons(run, 'protocol_errors')).toEqual({ [reason]: 1 });
    expect(count(run, 'acked')).toBe(0);
    expect(run.books.imbalances('devices', { qos: 2 })).toEqual([]);
  });
});

describe('a broker of MQTT 5', () => {
  test.each([1, 2] as const)(
    'refuses messages of QoS %i by a reason code, which is counted',
    (qos) => {
      const run = publishRun({
        stream: { qos },
        run: { broker: { reasonCode: (nth) => (nth % 4 === 0 ? 0x97 : 0x10) } },
      });
      finish(run);
      expect(reasons(run, 'publish_failed')).toEqual({ 'quota exceeded (0x97)': 20 });
      expect(count(run, 'sent')).toBe(80);
      expect(count(run, 'acked')).toBe(60);
      expect(run.handedOver(1)).toEqual({ handed: 80, unresolved: 20 });
      expect(run.books.imbalances('devices', { qos })).toEqual([]);
    },
  );

  test('has no more in flight of a client than its receive maximum, of all streams together', () => {
    const first = streamOf({ qos: 1 });
    const second = streamOf({ qos: 2, name: 'b', subject: 'devices.b' });
    const group = groupOf({ clients: 2, publish: [first, second] });
    const plan = planOf({
      groups: [group],
      stages: [
        { run: [{ group: 0, activities: [{ kind: 'connect' }] }] },
        {
          run: [{ group: 0, activities: [publishing(group, 0), publishing(group, 1)] }],
          forUs: 1e6,
        },
      ],
      version: '5',
    });
    const run = new VirtualRun(plan, {
      broker: { ackUs: Number.POSITIVE_INFINITY, receiveMaximum: 5 },
    });
    run.advance(0, 0);
    run.runTo(0.5e6);
    run.advance(1, 1e6);
    run.runTo(2e6);
    expect(run.clients[0]?.published).toHaveLength(10);
  });

  test('that takes only a few at a time gets what a kept session sends again bit by bit', () => {
    const run = publishRun({
      stream: { qos: 1 },
      group: KEPT,
      run: { broker: { ackUs: Number.POSITIVE_INFINITY, keepsSessions: true } },
    });
    run.runTo(2e6);
    const [clients] = run.clients;
    clients?.break(0);
    run.broker.receiveMaximum = 2;
    run.broker.ackUs = 100e3;
    const before = clients?.published.length ?? 0;
    run.runTo(4.5e6);
    const own = clients?.published.slice(before).filter(({ slot }) => slot === 0) ?? [];
    const again = own.filter(({ dup }) => dup);
    expect(again.length).toBeGreaterThan(2);
    const moments = again.map(({ atUs }) => atUs);
    // Two go at once, then one for each acknowledgement.
    expect(moments.filter((atUs) => atUs === moments[0])).toHaveLength(2);
    finish(run);
    expect(reasons(run, 'publish_failed')['connection lost']).toBeUndefined();
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('that has no session any more: what was in flight is lost, and told as such', () => {
    const run = publishRun({ stream: { qos: 1 }, group: KEPT });
    run.broker.ackUs = Number.POSITIVE_INFINITY;
    run.runTo(1.55e6);
    run.clients[0]?.break(0);
    run.broker.ackUs = 500;
    finish(run);
    const lost = reasons(run, 'publish_failed')['session lost'] ?? 0;
    expect(lost).toBeGreaterThan(0);
    expect(count(run, 'retransmitted')).toBe(0);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('before MQTT 5 a session that may be gone is gone on with all the same', () => {
    const run = publishRun({ version: '3.1.1', stream: { qos: 1 }, group: KEPT });
    run.broker.ackUs = Number.POSITIVE_INFINITY;
    run.runTo(1.55e6);
    run.clients[0]?.break(0);
    run.broker.ackUs = 500;
    finish(run);
    expect(reasons(run, 'publish_failed')['session lost']).toBeUndefined();
    expect(count(run, 'retransmitted')).toBeGreaterThan(0);
  });

  test('that does not take a message is not sent it', () => {
    const run = publishRun({ stream: { qos: 2 } });
    run.clients[0]?.limits.take(1, { maximumQos: 1 });
    finish(run);
    expect(reasons(run, 'publish_failed')).toEqual({
      'not sent: by the limits in CONNACK: QoS not supported (0x9b)': 20,
    });
    expect(count(run, 'acked')).toBe(60);
    expect(run.books.imbalances('devices', { qos: 2 })).toEqual([]);
  });
});
