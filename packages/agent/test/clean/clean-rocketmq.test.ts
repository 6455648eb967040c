import { NO_MATERIAL, readPlan } from '@squall/core/plan';
import { RequestCode } from '@squall/rocketmq/codec';
import { FaultBroker } from '@squall/rocketmq/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cleanPlan, type GroupCleaned } from '../../src/clean/index.ts';

let broker: FaultBroker;

beforeEach(async () => {
  broker = await FaultBroker.start();
  broker.autoCreate = false;
  for (const topic of ['load-abcd', '%RETRY%readers-abcd', 'others']) broker.store.create(topic, 1);
  broker.groups.make('readers-abcd');
  broker.groups.make('others');
});

afterEach(() => broker.stop());

async function clean(options: { readonly dryRun?: boolean } = {}): Promise<GroupCleaned[]> {
  const read = readPlan(`
squall: 1
name: names
targets: { rocketmq: { protocol: rocketmq, nameServers: ["${broker.address}"] } }
groups:
  producers: { target: rocketmq, clients: 1, publish: { topic: "load-{{run}}", payload: 100B, rate: 1/s } }
  consumers: { target: rocketmq, clients: 1, consume: { topic: others, group: "readers-{{run}}" } }
stages: [{ name: load, run: { producers: publish }, for: 1s }]
`);
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return cleanPlan({
    plan: read.plan,
    shortRun: 'abcd',
    secrets: {},
    ...NO_MATERIAL,
    what: { retained: true, sessions: true, names: true },
    dryRun: options.dryRun ?? false,
    ratePerS: 1_000,
  });
}

const NONE = { names: 0, found: 0, removed: 0, left: 0 };

describe('topics and groups of a RocketMQ run', () => {
  test('go, and those of others stay', async () => {
    const [producers, consumers] = await clean();
    expect(producers).toMatchObject({
      rocketmq: { topics: { names: 1, found: 1, removed: 1, left: 0 }, groups: NONE },
      failures: [],
    });
    expect(consumers?.rocketmq).toEqual({
      topics: { names: 2, found: 1, removed: 1, left: 0 },
      groups: { names: 1, found: 1, removed: 1, left: 0 },
    });
    expect(broker.store.topics).toEqual(['others']);
    expect(broker.groups.made).toEqual(['others']);
  });

  test('are only counted in a dry run', async () => {
    const [producers] = await clean({ dryRun: true });
    expect(producers?.rocketmq?.topics).toEqual({ names: 1, found: 1, removed: 0, left: 0 });
    expect(broker.store.topics).toHaveLength(3);
  });

  test('stay where the account may not remove them, and each refusal is told', async () => {
    broker.inject({ code: RequestCode.deleteTopicInBroker, kind: 'refuse', with: 16 });
    const [producers] = await clean();
    expect(producers?.rocketmq?.topics).toEqual({ names: 1, found: 1, removed: 0, left: 1 });
    expect(producers?.failures).toEqual([
      { step: 'remove', reason: expect.stringContaining('NO_PERMISSION (16)'), count: 1 },
    ]);
  });

  test('are not known where no broker answers', async () => {
    broker.on(RequestCode.getBrokerClusterInfo, (_request, reply) => reply.socket.destroy());
    const [, consumers] = await clean();
    expect(consumers?.rocketmq).toEqual({
      topics: { names: 2, found: 0, removed: 0, left: 2 },
      groups: { names: 1, found: 0, removed: 0, left: 1 },
    });
    expect(consumers?.failures[0]).toMatchObject({ step: 'look' });
  });
});
