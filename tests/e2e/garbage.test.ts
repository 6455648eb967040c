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

const CLIENTS = process.env['SQUALL_LONG'] === undefined ? 120 : 500;
/** Of each device. */
const MESSAGES = 4;
const VERSIONS: readonly ProtocolVersion[] = ['3.1', '3.1.1', '5'];

describe.concurrent('garbage', { timeout: 300_000 }, () => {
  test.for(VERSIONS)('in the place of CONNACK, PUBACK and SUBACK, MQTT %s', async (version) => {
    const faults = (['connack', 'ackToPublisher', 'suback'] as const).map(
      (way, k): Fault => ({
        way,
        kind: 'send',
        instead: true,
        thenEnd: true,
        where: firstOf(['caller', 'device', 'reader'][k] ?? ''),
        more: ({ clientId }) => garbage(seedOf(clientId), version),
      }),
    );
    const broker = await FaultBroker.start({ faults, readStamp });
    const report = await fleet.run(planFor(broker.url, version));
    await broker.close();

    expect(broker.injected.map(({ count }) => count)).toEqual([CLIENTS, CLIENTS, CLIENTS]);
    expect(broker.violations).toEqual([]);
    // Some garbage is a CONNACK that accepts: then it is the connection that ends.
    expect(
      ends(report, 'callers', 'connect_failed') + ends(report, 'callers', 'disconnected'),
    ).toBe(CLIENTS);
    expect(ends(report, 'devices', 'disconnected')).toBe(CLIENTS);
    expect(ends(report, 'readers', 'disconnected')).toBe(CLIENTS);
    expect(unknownReasons(report)).toEqual([]);
    expect(report.agents.map(({ state, workersLost }) => [state, workersLost])).toEqual([
      ['completed', []],
    ]);
    // They were harmed once, at their first message, and then went on. Some garbage is a PUBACK.
    const failed = ends(report, 'devices', 'publish_failed');
    expect(failed).toBeLessThanOrEqual(CLIENTS);
    expect(ends(report, 'devices', 'acked')).toBe(CLIENTS * MESSAGES - failed);
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
    qos: 1,
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
      callers: groupOf('caller'),
      devices: { ...groupOf('device'), publish },
      readers: { ...groupOf('reader'), subscribe: { topic: 'r/{{n}}', qos: 1 } },
    },
    stages: [
      { name: 'connect', run: { callers: 'connect', devices: 'connect', readers: 'subscribe' } },
      { name: 'publish', run: { devices: 'publish' } },
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
