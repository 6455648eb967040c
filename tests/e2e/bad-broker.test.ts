import { afterAll, describe, expect, test } from 'vitest';
import { connack, FakeBroker, misbehavingAtPublish, wellBehaved } from '../fixtures/fake-broker.ts';
import { devicesPlan } from '../fixtures/plans.ts';
import { freePort } from '../fixtures/process.ts';
import { reportOf, type SquallResult, Workspace } from '../fixtures/squall.ts';

/** Brokers that refuse, lie and break: each run still ends by itself, with a report that says why. */
const workspace = new Workspace();
afterAll(() => workspace.dispose());

const IMPATIENT = { retries: 0, timeout: '2s' };

const REFUSALS = [
  [1, /protocol version/i],
  [2, /client id/i],
  [3, /unavailable/i],
  [4, /user ?name or password/i],
  [5, /not authori[sz]ed/i],
] as const;

describe.concurrent('brokers that misbehave', { timeout: 90_000 }, () => {
  test('nobody listens: a verdict in under a minute that names the refusal', async () => {
    const url = `mqtt://127.0.0.1:${await freePort()}`;
    const plan = workspace.plan(
      devicesPlan({ url, thresholds: ['connect_failed: count == 0', 'published: count > 0'] }),
    );
    const result = await workspace.run([plan]);
    expect(result.seconds).toBeLessThan(60);
    expect(result.code).toBe(99);
    const reasons = devicesOf(result).reasons['connect_failed'] ?? {};
    expect(Object.keys(reasons).join(' ')).toMatch(/refused|ECONNREFUSED/i);
    expect(devicesOf(result).counters).toMatchObject({ connected: 0 });
  });

  test.for(REFUSALS)('CONNACK %i is counted by its reason', async ([code, words]) => {
    const result = await runAgainst((packet, socket) => {
      if (packet.type === 1) socket.end(connack(code));
    });
    const { counters, reasons } = devicesOf(result);
    expect(counters).toMatchObject({ connected: 0, connect_failed: 20, connect_attempts: 20 });
    expect(Object.keys(reasons['connect_failed'] ?? {}).join(' ')).toMatch(words);
    expect(Object.values(reasons['connect_failed'] ?? {}).reduce((a, b) => a + b, 0)).toBe(20);
  });

  test('a broker that never answers CONNECT: time-outs, and the run ends', async () => {
    const result = await runAgainst(() => undefined);
    const { counters, reasons } = devicesOf(result);
    expect(counters).toMatchObject({ connected: 0, connect_failed: 20 });
    expect(Object.keys(reasons['connect_failed'] ?? {}).join(' ')).toMatch(/time|in time/i);
  });

  test('a broker that closes in the middle of a packet', async () => {
    const result = await runAgainst(
      misbehavingAtPublish(5, (socket) => socket.end(Buffer.from([0x40, 2, 0]))),
    );
    const { counters, reasons } = devicesOf(result);
    expect(counters['disconnected']).toBe(1);
    expect(counters['publish_failed']).toBeGreaterThanOrEqual(1);
    expect(reasons['disconnected']).toBeDefined();
  });

  test('garbage from the broker is a protocol error of that connection alone', async () => {
    const result = await runAgainst(
      misbehavingAtPublish(5, (socket) =>
        socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])),
      ),
    );
    const { counters } = devicesOf(result);
    expect(counters['disconnected']).toBe(1);
    expect(counters['connected']).toBe(21);
  });

  test('a remaining length beyond the limit ends the connection, not the worker', async () => {
    const result = await runAgainst(
      misbehavingAtPublish(5, (socket) =>
        socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])),
      ),
    );
    const { counters } = devicesOf(result);
    expect(counters['disconnected']).toBe(1);
    expect(counters['connected']).toBe(21);
  });

  test('acknowledgements that never come are failures, and the books still balance', async () => {
    const result = await runAgainst((packet, socket) => {
      if (packet.type !== 3) wellBehaved(packet, socket);
    });
    const { counters } = devicesOf(result);
    expect(counters).toMatchObject({ connected: 20, acked: 0 });
    expect(counters['publish_failed']).toBeGreaterThan(0);
  });

  test('acknowledgements for other messages are named as a fault of the protocol', async () => {
    const result = await runAgainst((packet, socket) => {
      // A PUBACK, but for a packet id that no client has in flight.
      if (packet.type === 3) socket.write(Buffer.from([0x40, 2, 0xff, 0xe0]));
      else wellBehaved(packet, socket);
    });
    const { counters, reasons } = devicesOf(result);
    const why = 'PUBACK for a message that is not in flight [MQTT-2.3.1-6]';
    expect(counters).toMatchObject({ connected: 20, acked: 0, disconnected: 0 });
    expect(reasons['protocol_errors']).toEqual({ [why]: counters['sent'] });
    expect(result.output).toContain(why);
  });

  test('duplicate client ids: the plan is told that they take each other over', async () => {
    const plan = workspace.plan(
      devicesPlan({ url: 'mqtt://127.0.0.1:1', clientId: 'the-same-for-all' }),
    );
    const result = await workspace.run([plan]);
    expect(result.code).toBe(104);
    expect(result.stderr).toMatch(/clientId/);
    expect(result.report).toBeNull();
  });
});

async function runAgainst(answer: Parameters<typeof FakeBroker.start>[0]): Promise<SquallResult> {
  const broker = await FakeBroker.start(answer);
  try {
    const plan = devicesPlan({
      url: broker.url,
      clients: 20,
      length: '2s',
      connect: IMPATIENT,
      publish: { ackTimeout: '2s' },
    });
    return await workspace.run([workspace.plan(plan)]);
  } finally {
    await broker.dispose();
  }
}

function devicesOf(result: SquallResult) {
  const group = reportOf(result).groups['devices'];
  if (group === undefined) throw new Error('the report has no group "devices"');
  return group;
}
