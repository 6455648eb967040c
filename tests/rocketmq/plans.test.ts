import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { LOAD_USER } from '../fixtures/rocketmq/broker-files.ts';
import { disposeRigs, type RocketmqRig, rigTest } from '../fixtures/rocketmq/rig.ts';
import { ROCKETMQ_VERSIONS } from '../fixtures/rocketmq/versions.ts';
import { reportOf, type SquallResult, Workspace } from '../fixtures/squall.ts';

const TOPIC = 'by-plan';
const GROUP = 'plan-readers';
/** All of it is part of the matrix; else the version of the published test, and what must work there. */
const MATRIX = process.env['SQUALL_MATRIX'] === '1';
const VERSIONS = MATRIX ? ROCKETMQ_VERSIONS : (['4.8.0'] as const);

const workspace = new Workspace();

afterAll(async () => {
  await disposeRigs();
  workspace.dispose();
});

describe.each(VERSIONS)(
  'plans on RocketMQ %s with accounts and TLS',
  { timeout: 300_000 },
  (version) => {
    const test = rigTest({ version, acl: true, secure: true, topics: [TOPIC], groups: [GROUP] });

    test('produce and consume by their account, and tell nobody its secret', async ({ rig }) => {
      await rig.admin.admin.createTopic(TOPIC, { queues: 4 });
      await rig.admin.admin.createGroup(GROUP);
      const result = await run(rig, LOAD_USER.secretKey);
      expect(result.code, result.output).toBe(0);
      const { groups, ledger } = reportOf(result);
      expect(groups['producers']?.counters).toMatchObject({ acked: 400, stored: 400 });
      expect(groups['consumers']?.counters).toMatchObject({ received: 400, unread: 0 });
      expect(ledger[0]).toMatchObject({ unique: 400, lost: 0, state: 'pass' });
      for (const text of [result.output, JSON.stringify(result.report)]) {
        expect(text).not.toContain(LOAD_USER.secretKey);
      }
    });

    test('are refused by name with another secret', async ({ rig }) => {
      const result = await run(rig, 'not-the-secret');
      expect(result.code, result.output).not.toBe(0);
      expect(reportOf(result).reasons.join(' ')).toMatch(/secret|signature|ACL|access/i);
    });
  },
);

function run(rig: RocketmqRig, secret: string): Promise<SquallResult> {
  writeFileSync(path.join(workspace.folder, 'ca.pem'), rig.ca);
  const publish = { topic: TOPIC, payload: '128B', rate: '200/s', count: 400 };
  const plan = {
    squall: 1,
    name: 'secured',
    targets: {
      mq: {
        protocol: 'rocketmq',
        nameServers: [rig.cluster.nameServer],
        acl: { accessKey: LOAD_USER.accessKey, secretKey: '{{env.ROCKETMQ_SECRET}}' },
        tls: { ca: 'ca.pem', servername: 'localhost' },
      },
    },
    groups: {
      producers: { target: 'mq', clients: 4, connect: { retries: 0 }, publish },
      consumers: {
        target: 'mq',
        clients: 2,
        connect: { retries: 0 },
        consume: { topic: TOPIC, group: GROUP, from: 'first' },
      },
    },
    stages: [{ name: 'all', run: { producers: 'publish', consumers: 'consume' } }],
    settle: { quiet: '2s', max: '10s' },
  };
  return workspace.run([workspace.plan(plan)], { env: { ROCKETMQ_SECRET: secret } });
}
