import { connectAsync } from 'mqtt';
import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import { mochiMissing, startMochi } from '../fixtures/brokers/mochi.ts';
import { until } from '../fixtures/process.ts';
import { reportOf } from '../fixtures/squall.ts';

/** Its duration and broker are variables. */
const TAKEOVER = 'plans/recipes/takeover.yaml';

/** A ramp, churn, a storm of clean sessions under load, and who asks and answers, side by side. */
function fleetPlan(url: string): Record<string, unknown> {
  const target = 'broker';
  return {
    squall: 1,
    name: 'shapes-of-a-fleet',
    targets: { broker: { protocol: 'mqtt', urls: [url] } },
    groups: {
      rising: {
        target,
        clients: 31,
        publish: { topic: 'rising/{{n}}', qos: 1, payload: '40B', rate: '1/s' },
      },
      chance: {
        target,
        clients: 17,
        publish: {
          topic: 'chance/{{n}}',
          qos: 1,
          payload: '40B',
          rate: '100/s',
          arrivals: 'poisson',
        },
      },
      visitors: { target, clients: 13 },
      lost: { target, clients: 21, subscribe: { topic: 'lost/{{n}}' } },
      devices: { target, clients: 7, respond: { topic: 'ask/{{n}}', to: 'answer/{{n}}', qos: 1 } },
      app: {
        target,
        clients: 7,
        publish: {
          topic: 'ask/{{n}}',
          qos: 1,
          payload: '40B',
          rate: 'max',
          count: 70,
          request: { responseTopic: 'answer/{{n}}', qos: 1 },
        },
      },
    },
    stages: [
      { name: 'ready', run: { lost: 'subscribe', devices: 'respond', app: 'connect' } },
      {
        name: 'all',
        run: {
          rising: { ramp: { from: '0/s', to: '200/s' } },
          chance: 'publish',
          visitors: { churn: { rate: '15/s', stay: '200ms' } },
          lost: { disconnect: { share: '40%', by: 'reset', reconnect: '20/s' } },
          app: 'publish',
        },
        for: '3s',
      },
    ],
    thresholds: [
      'request_failed: count == 0',
      'connect_missed: count == 0',
      'disconnected: count == 0',
    ],
    settle: { quiet: '1s', max: '5s' },
  };
}

describe.concurrent('load shapes', { timeout: 90_000 }, () => {
  test('come to the same over several agents, as the broker’s other client sees it, too', async ({
    broker,
    workspace,
  }) => {
    const heard = new Map<string, number>();
    const listener = await connectAsync(broker.url);
    listener.on('message', (topic) => {
      const [level = ''] = topic.split('/');
      heard.set(level, (heard.get(level) ?? 0) + 1);
    });
    await listener.subscribeAsync('#', { qos: 1 });
    const plan = workspace.plan(fleetPlan(broker.url));
    const result = await workspace.run([plan, '--agents', '3', '--workers', '1']);
    const { groups, verdict } = reportOf(result);
    const count = (group: string, metric: string) => groups[group]?.counters[metric] ?? 0;
    expect(verdict, result.output).toBe('pass');
    // A ramp from 0 to 200/s has a mean of 100/s.
    expect(count('rising', 'planned')).toBe(300);
    expect(count('rising', 'acked')).toBe(300);
    expect(Math.abs(count('chance', 'planned') - 300)).toBeLessThan(5 * Math.sqrt(300));
    expect(count('chance', 'acked')).toBe(count('chance', 'planned'));
    expect(count('visitors', 'connected')).toBe(45);
    // 40 % of 21 clients are 8; their subscriptions are made again.
    expect(count('lost', 'disconnects')).toBe(8);
    expect(count('lost', 'connected')).toBe(29);
    expect(count('lost', 'subscribed')).toBe(29);
    expect(groups['lost']?.times['recovery_time']?.count).toBe(8);
    expect(count('app', 'responses')).toBe(70);
    expect(count('devices', 'acked')).toBe(70);
    const levels = ['rising', 'chance', 'ask', 'answer'];
    const sent = [300, count('chance', 'acked'), 70, 70];
    const seen = () => levels.map((level) => heard.get(level));
    await until('the other client to have heard it all', () => {
      return seen().every((value, k) => value === sent[k]);
    }).catch(() => undefined);
    await listener.endAsync(true);
    expect(seen()).toEqual(sent);
  });

  test('a takeover is ended by the broker’s own word in MQTT 5', async ({ workspace, skip }) => {
    const missing = await mochiMissing();
    if (missing !== null) skip(missing);
    const mochi = await startMochi();
    try {
      const vars = [`broker=mqtt://127.0.0.1:${mochi.port}`, 'duration=2s'];
      const args = vars.flatMap((each) => ['--var', each]);
      const report = reportOf(await workspace.run([TAKEOVER, ...args]));
      expect(report.verdict).toBe('pass');
      expect(report.groups['devices']?.reasons['taken_over']).toEqual({
        'disconnected by broker: session taken over (0x8e)': 10,
      });
    } finally {
      await mochi.dispose();
    }
  });
});
