import { describe, expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';
import { accepted, refused } from './plan-fixture.ts';

const NAMES = ['10.0.0.1:9876', '10.0.0.2:9876'];

function planOf(parts: { target?: object; publish?: object; consume?: object; group?: object }) {
  const publish = { topic: 'orders', payload: '1KB', rate: 'max', ...parts.publish };
  return {
    squall: 1,
    name: 'rocketmq',
    targets: { mq: { protocol: 'rocketmq', nameServers: NAMES, ...parts.target } },
    groups: {
      producers: { target: 'mq', clients: 4, publish, ...parts.group },
      consumers: {
        target: 'mq',
        clients: 2,
        consume: { topic: 'orders', group: 'readers', ...parts.consume },
      },
    },
    stages: [{ name: 'load', run: { producers: 'publish', consumers: 'consume' }, for: '10s' }],
  };
}

const from = (word: unknown) =>
  accepted(planOf({ consume: { from: word } })).groups[1]?.subscribe[0]?.consume?.from;

const messages = (parts: Parameters<typeof planOf>[0]) =>
  refused(planOf(parts)).map(({ message }) => message);

describe('a plan of RocketMQ', () => {
  test('is told that the run itself removes nothing of it', () => {
    const read = readPlan(JSON.stringify({ ...planOf({}), cleanup: true }));
    expect(read.ok && read.warnings).toEqual([
      expect.objectContaining({
        path: 'cleanup',
        message: expect.stringContaining('removes nothing of group producers'),
        hint: expect.stringContaining('squall clean'),
      }),
    ]);
  });

  test('has acknowledged messages, and consumers that share a topic', () => {
    const plan = accepted(planOf({ target: { namespace: 'team', connections: 2 } }));
    expect(plan.targets['mq']).toMatchObject({ nameServers: NAMES, connections: 2, acl: null });
    expect(plan.groups[0]?.publish[0]).toMatchObject({
      topic: 'team%orders',
      qos: 1,
      inflight: 1,
      verify: true,
      rocketmq: { batch: 1, tags: null, ordered: false, transaction: null },
    });
    expect(plan.groups[1]?.subscribe[0]).toMatchObject({
      topics: ['$share/team%readers/team%orders'],
      consume: { topic: 'team%orders', group: 'team%readers', from: { at: 'last' }, batch: 32 },
    });
    expect(plan.stages[0]?.run[1]?.activities).toEqual([{ kind: 'consume', entry: 0 }]);
  });

  test('takes all words of its streams', () => {
    const publish = {
      batch: 16,
      keys: '{{seq}}',
      tags: 'a',
      properties: { userProperties: { shop: '{{n}}' } },
      queue: 3,
    };
    expect(accepted(planOf({ publish })).groups[0]?.publish[0]?.rocketmq).toMatchObject({
      batch: 16,
      keys: '{{seq}}',
      tags: 'a',
      userProperties: [{ name: 'shop', value: '{{n}}' }],
      queue: 3,
    });
    const oneway = accepted(planOf({ publish: { oneway: true } })).groups[0]?.publish[0];
    expect(oneway).toMatchObject({ qos: 0 });
    const half = { transaction: { rollback: '10%', unknown: '1%' } };
    expect(accepted(planOf({ publish: half })).groups[0]?.publish[0]?.rocketmq).toMatchObject({
      transaction: { rollback: 0.1, unknown: 0.01 },
    });
  });

  test('says where a group begins', () => {
    expect(from('first')).toEqual({ at: 'first' });
    expect(from({ offset: 7 })).toEqual({ at: 'offset', offset: 7 });
    const timestampMs = Date.parse('2026-11-30T12:00:00Z');
    expect(from({ timestamp: '2026-11-30T12:00:00Z' })).toEqual({ at: 'timestamp', timestampMs });
  });

  test('broadcasts to each client by itself', () => {
    const [entry] = accepted(planOf({ consume: { broadcast: true } })).groups[1]?.subscribe ?? [];
    expect(entry?.topics).toEqual(['$share/readers-{{n}}/orders']);
  });

  test.each([
    [{ publish: { qos: 1 } }, /has no QoS/],
    [{ publish: { retain: true } }, /retains nothing/],
    [{ publish: { request: { responseTopic: 'r' } } }, /request is for MQTT/],
    [{ publish: { topic: 'o-{{n}}' } }, /the same for all clients/],
    [{ publish: { topic: 'a/b' } }, /no name of a topic/],
    [{ publish: { batch: 2, delayLevel: 1 } }, /batch and delayLevel cannot both/],
    [{ publish: { batch: 8, payload: '1MB' } }, /too large/],
    [{ group: { subscribe: { topic: 't' } } }, /subscribe is for MQTT: write consume/],
    [{ group: { username: 'u' } }, /username is for MQTT/],
    [{ target: { nameServers: ['h'] } }, /no address of a name server/],
    [{ consume: { tags: 'a', sql: 'b > 1' } }, /tags and sql/],
    [{ consume: { broadcast: true, ordering: 'orderly' } }, /locks none/],
    [{ consume: { from: 'middle' } }, /not one of first, last|Invalid/],
  ])('refuses %j', (parts, message) => {
    expect(messages(parts).join(' ')).toMatch(message);
  });

  test('has no part in activities that move connections of MQTT', () => {
    const plan = planOf({});
    const stages = [{ name: 'load', run: { producers: 'disconnect' }, for: '10s' }];
    expect(refused({ ...plan, stages })[0]).toMatchObject({
      code: 'SQ_UNSUPPORTED',
      message: 'disconnect of RocketMQ clients is not supported by this version',
    });
  });
});

test('words of RocketMQ are refused towards MQTT', () => {
  const plan = planOf({ publish: { tags: 'a' } });
  const targets = { mq: { protocol: 'mqtt', urls: ['mqtt://h'] } };
  const told = refused({ ...plan, targets }).map(({ message }) => message);
  expect(told).toContain('tags is for RocketMQ');
  expect(told).toContain('consume is for RocketMQ: MQTT has subscribe');
});
