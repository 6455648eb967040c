import { describe, expect } from 'vitest';
import { BreakableLine, type LineDelays } from '../fixtures/breakable-line.ts';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import type { Mosquitto } from '../fixtures/mosquitto.ts';
import { reportOf, startSquall, type Workspace } from '../fixtures/squall.ts';
import { noTimeNamespace } from '../fixtures/time-namespace.ts';

const TOKEN = { SQUALL_TOKEN: 'a-token-of-the-test' };
/** A day: nothing that is measured could be mistaken for it. */
const AHEAD_S = 86_400;
/** What the quickest of many deliveries over two ways of one length may differ by, µs. */
const NOISE_US = 4_000;
const PACE = { qos: 0, every: '20ms', payload: '60B' } as const;
/** Between the publishers and the broker: the least that a delivery takes. */
const WAY_MS = 30;

describe.concurrent('deliveries to a host with another clock', { timeout: 60_000 }, () => {
  test('over ways of equal length are timed as they are, and the error is stated', async ({
    broker,
    workspace,
    skip,
  }) => {
    const reason = noTimeNamespace();
    if (reason !== null) skip(reason);
    const { near, far, thresholds, summary, code } = await deliver(
      { broker, workspace },
      {
        forwardMs: 12,
        backMs: 12,
      },
    );
    expect(near.boundUs).toBeUndefined();
    // Node's timers may fire a millisecond early.
    expect(near.minUs).toBeGreaterThanOrEqual((WAY_MS - 1) * 1_000);
    expect(far.count).toBe(near.count);
    // Half of the round trip, 24 ms, and not much more.
    expect(far.boundUs).toBeGreaterThanOrEqual(12_000);
    expect(far.boundUs).toBeLessThan(40_000);
    expect(Math.abs(far.minUs - near.minUs)).toBeLessThan(NOISE_US);
    expect(far.negative).toBe(0);
    expect(thresholds).toEqual({
      'delivery_time{stream=far}: p(99) < 20ms': 'inconclusive',
      'delivery_time{stream=far}: p(99) < 30s': 'pass',
      'delivery_time{stream=near}: p(99) < 30s': 'pass',
    });
    expect(code).toBe(112);
    expect(summary).toMatch(/readers delivery_time .*± \d/);
  });

  test('over ways of different length are wrong by less than the stated error, below zero too', async ({
    broker,
    workspace,
    skip,
  }) => {
    const reason = noTimeNamespace();
    if (reason !== null) skip(reason);
    const { near, far, quick } = await deliver({ broker, workspace }, { forwardMs: 2, backMs: 42 });
    const boundUs = far.boundUs ?? 0;
    const errorUs = far.minUs - near.minUs;
    // No way to see from the two ends that one direction is 40 ms longer: the clock seems 20 ms off.
    expect(errorUs).toBeLessThan(-12_000);
    expect(Math.abs(errorUs)).toBeLessThanOrEqual(boundUs + NOISE_US);
    expect(boundUs).toBeGreaterThanOrEqual(22_000);
    expect(boundUs).toBeLessThan(60_000);
    // What takes 1 ms seems to come 19 ms before it is sent, unless the machine is busy.
    expect(quick.negative).toBeGreaterThan(0);
    expect(quick.boundUs).toBeGreaterThanOrEqual(22_000);
  });
});

interface Needs {
  readonly broker: Mosquitto;
  readonly workspace: Workspace;
}

/**
 * Messages from agent a, by turns to a subscriber beside it (near) and to one on agent b, whose clock is
 * a day ahead and whose way to the controller is long (far; quick: without the way to the broker).
 */
async function deliver({ broker, workspace }: Needs, delays: LineDelays) {
  const way = await BreakableLine.to(broker.port, { forwardMs: WAY_MS });
  const plan = workspace.plan(clocksPlan(broker.url, `mqtt://127.0.0.1:${way.port}`));
  const out = workspace.out();
  const args = ['run', plan, '--agents-external', '2', '--listen', '127.0.0.1:0', '--out', out];
  const run = startSquall(args, out, { env: TOKEN });
  const [, port = ''] = await run.seen(/ws:\/\/127\.0\.0\.1:(\d+)/);
  const line = await BreakableLine.to(Number(port), delays);
  const agent = (id: string, to: number | string, clockAheadS?: number) =>
    startSquall(
      ['agent', '--controller', `ws://127.0.0.1:${to}`, '--id', id, '--workers', '1'],
      '',
      { env: TOKEN, ...(clockAheadS === undefined ? {} : { clockAheadS }) },
    );
  const agents = [agent('a', port), agent('b', line.port, AHEAD_S)];
  try {
    const result = await run.result;
    const report = reportOf(result);
    const times = (stream: string) => {
      const found = report.groups['readers']?.streams[stream]?.times['delivery_time'];
      if (found === undefined) throw new Error(`nothing was timed in ${stream}:\n${result.output}`);
      return found;
    };
    return {
      near: times('near'),
      far: times('far'),
      quick: times('quick'),
      thresholds: Object.fromEntries(report.thresholds.map(({ text, state }) => [text, state])),
      summary: result.output,
      code: result.code,
    };
  } finally {
    agents[0]?.child.kill('SIGTERM');
    agents[1]?.child.kill('SIGKILL');
    await Promise.all(agents.map((each) => each.ended));
    await line.close();
    await way.close();
  }
}

function clocksPlan(url: string, longUrl: string): Record<string, unknown> {
  // Client 1 of two is agent a's, client 2 agent b's; one alone is a's.
  return {
    squall: 1,
    name: 'clocks',
    targets: {
      broker: { protocol: 'mqtt', urls: [url] },
      away: { protocol: 'mqtt', urls: [longUrl] },
    },
    groups: {
      readers: {
        target: 'broker',
        clients: 2,
        subscribe: ['near', 'far', 'quick'].map((name) => ({
          name,
          topic: `${name}/{{n}}`,
          qos: 0,
        })),
      },
      senders: {
        target: 'away',
        clients: 1,
        publish: [
          { name: 'near', topic: 'near/1', ...PACE },
          { name: 'far', topic: 'far/2', ...PACE },
        ],
      },
      hasty: { target: 'broker', clients: 1, publish: { topic: 'quick/2', ...PACE } },
    },
    stages: [
      { name: 'connect', run: { readers: 'subscribe', senders: 'connect', hasty: 'connect' } },
      { name: 'publish', run: { senders: 'publish', hasty: 'publish' }, for: '2s' },
    ],
    thresholds: [
      'delivery_time{stream=far}: p(99) < 20ms',
      'delivery_time{stream=far}: p(99) < 30s',
      'delivery_time{stream=near}: p(99) < 30s',
    ],
    settle: { quiet: '1s', max: '10s' },
  };
}
