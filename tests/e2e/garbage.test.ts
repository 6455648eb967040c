import type { ProtocolVersion } from '@squall/mqtt/codec';
import { type Fault, FaultBroker, type SeenPacket } from '@squall/mqtt/testing';
import { isMetricName, isReasonOf } from '@squall/core/metrics';
import type { Report } from '@squall/core/report';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Fleet } from '../fixtures/fleet.ts';
import { garbage } from '../fixtures/garbage.ts';
import { readStamp } from '../fixtures/read-stamp.ts';

/** Brokers that answer with garbage: no agent dies of it, and each connection ends for a known reason. */
let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start(3);
});
afterAll(() => fleet.close());

const CLIENTS = process.env['SQUALL_LONG'] === undefined ? 60 : 300;
/** Of each device. */
const MESSAGES = 4;
/** Groups, and in the place of what the first garbage comes to each client of them. */
const HARMED = [
  ['caller', 'connack'],
  ['device', 'ackToPublisher'],
  ['exact', 'recToPublisher'],
  ['reader', 'suback'],
  ['listener', 'toSubscriber'],
] as const;
const VERSIONS: readonly ProtocolVersion[] = ['3.1', '3.1.1', '5'];

describe.concurrent('garbage', { timeout: 300_000 }, () => {
  test.for(VERSIONS)('in the place of every answer and message, MQTT %s', async (version) => {
    const faults = HARMED.map(
      ([group, way]): Fault => ({
        way,
        kind: 'send',
        instead: true,
        thenEnd: true,
        where: firstOf(group),
        more: ({ clientId }) => garbage(seedOf(clientId), version),
      }),
    );
    const broker = await FaultBroker.start({ faults, readStamp });
    const report = await fleet.run(planFor(broker.url, version));
    await broker.close();

    expect(broker.injected.map(({ count }) => count)).toEqual(HARMED.map(() => CLIENTS));
    expect(broker.violations).toEqual([]);
    // Some garbage is a CONNACK that accepts: then it is the connection that ends.
    const ended = HARMED.map(
      ([group]) => ends(report, group, 'connect_failed') + ends(report, group, 'disconnected'),
    );
    expect(ended).toEqual(HARMED.map(() => CLIENTS));
    expect(unknownReasons(report)).toEqual([]);
    expect(report.agents.map(({ state, workersLost }) => [state, workersLost])).toEqual([
      ['completed', []],
    ]);
    // They were harmed once, at their first message, and then went on. Some garbage is a PUBACK.
    for (const group of ['device', 'exact']) {
      const failed = ends(report, group, 'publish_failed');
      expect(failed).toBeLessThanOrEqual(CLIENTS);
      expect(ends(report, group, 'acked')).toBe(CLIENTS * MESSAGES - failed);
    }
  });
});

/** The first packet of each client of a group. */
function firstOf(group: string): (packet: SeenPacket) => boolean {
  const seen = new Set<string>();
  return ({ clientId }) => {
    if (!clientId.startsWith(`${group}-`) || seen.has(clientId)) return false;
    seen.add(clientId);
    return true;
  };
}

function seedOf(clientId: string): number {
  return Buffer.from(clientId).reduce((seed, byte) => seed * 31 + byte, 7) | 0;
}

function ends(report: Report, group: string, counter: string): number {
  return report.groups[group]?.counters[counter] ?? 0;
}

/** Reasons that no document knows. */
function unknownReasons({ groups }: Report): string[] {
  return Object.values(groups).flatMap(({ reasons }) =>
    Object.entries(reasons).flatMap(([metric, counts]) =>
      Object.keys(counts)
        .filter((reason) => !isMetricName(metric) || !isReasonOf(metric, reason))
        .map((reason) => `${metric}: ${reason}`),
    ),
  );
}

function planFor(url: string, version: ProtocolVersion) {
  const publish = {
    topic: 'd/{{n}}',
    every: '200ms',
    count: MESSAGES * CLIENTS,
    inflight: 1,
    payload: '60B',
    ackTimeout: '30s',
  };
  return {
    squall: 1,
    name: 'garbage',
    targets: { broker: { protocol: 'mqtt', urls: [url], version } },
    groups: {
      caller: groupOf('caller'),
      device: { ...groupOf('device'), publish: { ...publish, qos: 1 } },
      exact: { ...groupOf('exact'), publish: { ...publish, topic: 'e/{{n}}', qos: 2 } },
      reader: { ...groupOf('reader'), subscribe: { topic: 'r/{{n}}', qos: 1 } },
      listener: { ...groupOf('listener'), subscribe: { topic: 'd/{{n}}', qos: 2 } },
    },
    stages: [
      { name: 'subscribe', run: { reader: 'subscribe', listener: 'subscribe' } },
      { name: 'connect', run: { caller: 'connect', device: 'connect', exact: 'connect' } },
      { name: 'publish', run: { device: 'publish', exact: 'publish' } },
    ],
    // Messages wait until their client is connected again.
    backlog: '60s',
    settle: { quiet: '200ms', max: '3s' },
  };
}

/** Clients that give up an attempt at its first failure, and a lost connection never. */
function groupOf(name: string) {
  return {
    target: 'broker',
    clients: CLIENTS,
    clientId: `${name}-{{n}}`,
    connect: { rate: '500/s', timeout: '60s', retries: 0, backoff: { min: '10ms', max: '50ms' } },
  };
}
