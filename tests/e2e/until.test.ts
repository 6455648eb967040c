import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import { reportOf, squall } from '../fixtures/squall.ts';

interface Needs {
  readonly url: string;
  readonly until: string;
  readonly count: number;
}

function untilPlan({ url, until, count }: Needs): Record<string, unknown> {
  const target = 'broker';
  return {
    squall: 1,
    name: 'until',
    targets: { broker: { protocol: 'mqtt', urls: [url] } },
    groups: {
      subs: { target, clients: 1, subscribe: { topic: 'until/#' } },
      pubs: {
        target,
        clients: 5,
        publish: { topic: 'until/{{n}}', qos: 1, payload: '50B', rate: '50/s', count },
      },
    },
    stages: [
      { name: 'subscribe', run: { subs: 'subscribe' } },
      { name: 'publish', run: { pubs: 'publish' }, until },
    ],
    settle: { quiet: '1s', max: '5s' },
  };
}

describe.concurrent('a stage with until whose messages have a count', { timeout: 60_000 }, () => {
  test('ends by the condition where the last messages make it true', async ({
    broker,
    workspace,
  }) => {
    const plan = untilPlan({ url: broker.url, until: 'subs.received >= 100', count: 100 });
    const report = reportOf(await workspace.run([workspace.plan(plan)]));
    expect(report.stages.map(({ endedBy }) => endedBy)).toEqual(['complete', 'condition']);
    expect(report.groups['subs']?.counters['received']).toBe(100);
  });

  test('ends complete, with a note, where it cannot come true any more', async ({
    broker,
    workspace,
  }) => {
    const plan = untilPlan({ url: broker.url, until: 'subs.received >= 500', count: 100 });
    const result = await workspace.run([workspace.plan(plan)]);
    const report = reportOf(result);
    expect(result.seconds).toBeLessThan(30);
    expect(report.stages.map(({ endedBy }) => endedBy)).toEqual(['complete', 'complete']);
    expect(report.notes.join('\n')).toContain(
      'its condition "subs.received >= 500" had not come true',
    );
    expect(result.code).toBe(0);
  });

  test('is refused where the plan shows that it cannot', async ({ workspace }) => {
    const plan = untilPlan({ url: 'mqtt://127.0.0.1:1', until: 'pubs.sent >= 1000', count: 101 });
    const result = await squall(['check', workspace.plan(plan)]);
    expect(result.code).toBe(104);
    expect(result.stderr).toContain('"pubs.sent >= 1000" can never come true');
  });
});
