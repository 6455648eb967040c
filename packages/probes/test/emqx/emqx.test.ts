import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { PageServer } from '../page-server.ts';
import { failureOf, open, valuesOf } from '../reading.ts';
import { nodeState } from './stand-in.ts';
import { Emqx4 } from './stand-in-4.ts';
import { Emqx5 } from './stand-in-5.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

async function started<Server extends { stop(): Promise<void> }>(
  starting: Promise<Server>,
): Promise<Server> {
  const server = await starting;
  running.push(server);
  return server;
}

const probeOf = (url: string, more: { rules?: string[]; sinks?: string[] } = {}) =>
  open({ type: 'emqx', url, rules: [], sinks: [], ...more });

/** Three nodes that differ in everything that is summed. */
const cluster = () => [
  nodeState('emqx@a', {
    live: 100,
    offline: 7,
    received: 20_000,
    sent: 5_000,
    withoutSubscriber: 20_000,
    rule: { matched: 20_000, total: 20_000, success: 19_000, failed: 10 },
    sink: { success: 19_000, failed: 6, dropped: 4, queuing: 900, inflight: 90 },
  }),
  nodeState('emqx@b', { live: 50, received: 1_000, queueFull: 3 }),
  nodeState('emqx@c', { live: 25, received: 500 }),
];

/** What both generations make of it. */
const SUMMED = {
  nodes: 3,
  // Sessions whose client left are no connections, nor are those of the management.
  connections: 175,
  sessions: 182,
  subscriptions: 175,
  topics: 12,
  messages_in: 21_500,
  messages_out: 5_000,
  // What only a rule takes was not lost.
  messages_dropped: 3,
  messages_without_subscriber: 20_000,
  bytes_in: 21_500 * 220,
  bytes_out: 5_000 * 220,
  'rule.hits': 20_000,
  'rule.success': 19_000,
  'rule.failed': 10,
  'rule.open': 990,
  'sink.success': 19_000,
  'sink.failed': 10,
  'sink.open': 990,
};

describe('EMQX 4.x', () => {
  test('all nodes are summed, but not what they tell alike', async () => {
    const server = await started(Emqx4.start(cluster()));
    expect(await valuesOf(probeOf(server.url(), { rules: ['rule:hook'] }))).toEqual({
      ...SUMMED,
      load: 5.14,
      memory_used: 3 * 74.34 * 1024 ** 2,
      memory_total: 3 * 76.77 * 1024 ** 2,
      processes: 3 * 278,
    });
  });

  test('4.4 tells open connections itself', async () => {
    const server = await started(Emqx4.start(cluster()));
    server.tellsLive = true;
    expect(await valuesOf(probeOf(server.url()))).toMatchObject({ connections: 175 });
  });

  test('rules and resources are chosen; all rules without a choice', async () => {
    const server = await started(Emqx4.start(cluster()));
    expect(await valuesOf(probeOf(server.url()))).toMatchObject({
      'rule.hits': 60_000,
      'sink.success': 57_000,
    });
    const chosen = { sinks: ['resource:2'] };
    expect(await valuesOf(probeOf(server.url(), chosen))).toMatchObject({
      'rule.hits': 60_000,
      'rule.success': 57_000,
      'sink.success': 38_000,
    });
    const unknown = probeOf(server.url(), { rules: ['rule:huk'] });
    expect(await failureOf(unknown)).toMatchObject({ reason: 'no such rule' });
  });

  test('an error of the matter inside HTTP 200 is an error', async () => {
    const server = await started(Emqx4.start(cluster()));
    server.fault = { code: 404, message: 'Not Found' };
    const failure = await failureOf(probeOf(server.url()));
    expect(failure).toEqual({ reason: 'EMQX code 404', message: 'EMQX code 404: Not Found' });
  });

  test('changed actions count on under their new id', async () => {
    const server = await started(Emqx4.start([nodeState('a')]));
    const [node] = server.nodes;
    if (node === undefined) throw new Error('no node');
    const probe = probeOf(server.url(), { rules: ['rule:hook'] });
    node.rule = { matched: 100, total: 100, success: 100, failed: 0 };
    expect(await valuesOf(probe)).toMatchObject({ 'rule.success': 100 });
    server.actionId = 'data_to_webserver_2';
    node.rule = { matched: 130, total: 30, success: 30, failed: 0 };
    expect(await valuesOf(probe)).toMatchObject({ 'rule.hits': 130, 'rule.success': 130 });
  });

  test('a node that was restarted makes its counters begin again, though the others grew', async () => {
    const server = await started(Emqx4.start(cluster()));
    const probe = probeOf(server.url());
    const first = await valuesOf(probe);
    const [a, b] = server.nodes;
    if (a === undefined || b === undefined) throw new Error('no nodes');
    b.running = false;
    a.received += 100;
    // While it is down, what it had counted stays counted.
    expect(await valuesOf(probe)).toMatchObject({ nodes: 2, messages_in: 21_600 });
    b.running = true;
    b.received = 40;
    a.received += 9_000;
    const { messages_in: after = 0 } = await valuesOf(probe);
    expect(after).toBe(9_040);
    expect(after).toBeLessThan(first['messages_in'] ?? 0);
  });

  test('a wrong password is named, not shown', async () => {
    const server = await started(Emqx4.start(cluster()));
    const failure = await failureOf(probeOf(server.url('admin:hunter2')));
    expect(failure.reason).toBe('HTTP 401');
    expect(failure.message).not.toContain('hunter2');
  });
});

describe('EMQX 5.x', () => {
  test('all nodes are summed; what a sink still holds and what it gave up is seen', async () => {
    const server = await started(Emqx5.start(cluster()));
    expect(await valuesOf(probeOf(server.url('key:secret')))).toEqual({
      ...SUMMED,
      'sink.queuing': 900,
      'sink.inflight': 90,
      load: 12.75,
      memory_used: 3 * 2.15 * 1024 ** 3,
      memory_total: 3 * 23.54 * 1024 ** 3,
      processes: 3 * 444,
    });
  });

  test('numbers in exponent form are read', async () => {
    const server = await started(PageServer.start());
    server.answer = (request, response) => {
      const isMetrics = request.url === '/api/v5/metrics';
      response.end(isMetrics ? '[{"node":"a","messages.received":2.0e3}]' : '[]');
    };
    const values = await valuesOf(probeOf(server.url('/api/v5', 'key:secret')));
    expect(values).toMatchObject({ messages_in: 2_000 });
  });

  test('before 5.3.1 sinks are bridges', async () => {
    const server = await started(Emqx5.start(cluster()));
    server.sinks = 'bridges';
    const values = await valuesOf(probeOf(server.url('key:secret'), { sinks: ['mysql:db'] }));
    expect(values).toMatchObject({ 'sink.success': 19_000, 'sink.open': 990 });
  });

  test('a sink and a rule that there are not are told, though the API answers zeros', async () => {
    const server = await started(Emqx5.start(cluster()));
    const sink = probeOf(server.url('key:secret'), { sinks: ['mysql:dbb'] });
    expect(await failureOf(sink)).toMatchObject({ reason: 'no such sink' });
    const rule = probeOf(server.url('key:secret'), { rules: ['dbb'] });
    expect(await failureOf(rule)).toMatchObject({ reason: 'no such rule' });
  });

  test('more rules than can be asked each time have to be chosen', async () => {
    const server = await started(Emqx5.start(cluster()));
    server.ruleIds = Array.from({ length: 101 }, (_, k) => `r${k}`);
    expect(await failureOf(probeOf(server.url('key:secret')))).toMatchObject({
      reason: 'too many rules',
    });
    const chosen = probeOf(server.url('key:secret'), { rules: ['r100'] });
    expect(await valuesOf(chosen)).toMatchObject({ 'rule.hits': 20_000 });
  });

  test('a user of the dashboard is logged in, and again when the token is over', async () => {
    const server = await started(Emqx5.start(cluster()));
    const probe = probeOf(server.url('admin:public'));
    await valuesOf(probe);
    await valuesOf(probe);
    const logins = server.logins;
    server.token = 'token-2';
    expect(await valuesOf(probe)).toMatchObject({ connections: 175 });
    expect(server.logins).toBeGreaterThan(logins);
  });

  test('a wrong password is tried once: five lock the account', async () => {
    const server = await started(Emqx5.start(cluster()));
    const probe = probeOf(server.url('admin:hunter2'));
    for (let reading = 1; reading <= 6; reading++) {
      const failure = await failureOf(probe);
      expect(failure.reason).toBe('HTTP 401');
      expect(failure.message).not.toContain('hunter2');
    }
    expect(server.logins).toBe(1);
  });

  test('right after its start it answers 500, which is a failed reading and no more', async () => {
    const server = await started(Emqx5.start(cluster()));
    const probe = probeOf(server.url('key:secret'));
    server.isLoading = true;
    expect(await failureOf(probe)).toMatchObject({ reason: 'HTTP 500' });
    server.isLoading = false;
    expect(await valuesOf(probe)).toMatchObject({ nodes: 3 });
  });
});

test.for([
  ['HTML', '<html>Welcome</html>', 'not JSON'],
  ['half an answer', '{"code":0,"data":[', 'not JSON'],
  ['another API', '{"status":"up"}', 'EMQX code undefined'],
  ['too much', `"${'x'.repeat(9 * 1024 * 1024)}"`, 'answer too large'],
] as const)('%s instead of the API is named', async ([, page, reason]) => {
  const server = await PageServer.start(page);
  onTestFinished(() => server.stop());
  const probe = probeOf(server.url('/api/v4', 'admin:public'));
  expect(await failureOf(probe)).toMatchObject({ reason });
});
