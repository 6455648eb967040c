import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { FaultBroker } from '@squall/mqtt/testing';
import { test } from 'vitest';
import { brokerTest } from '../../fixtures/broker-test.ts';
import { Mosquitto } from '../../fixtures/mosquitto.ts';
import { SecuredBroker, securedBrokerMissing } from '../../fixtures/secured-broker.ts';
import { squall, type SquallResult, Workspace } from '../../fixtures/squall.ts';

/** A person waits for it: whatever is wrong is told within this time, the start of Node.js apart. */
const LIMIT_S = 12;

function tookS({ stdout }: SquallResult): number {
  const [, value, unit] = /tried in ([\d.]+)(ms|s)\n/.exec(stdout) ?? [];
  return Number(value) / (unit === 'ms' ? 1_000 : 1);
}

interface Needs {
  readonly url: string;
  readonly subscribe?: string;
  readonly qos?: number;
}

const PUBLISH = { topic: 'up/{{n}}', qos: 1, payload: '64B', every: '1s' };

/** Publishers, and readers where a filter is given. */
function plan({ url, subscribe, qos = 1 }: Needs): Record<string, unknown> {
  const readers = { target: 'broker', clients: 10, subscribe: { topic: subscribe, qos } };
  const publish = { ...PUBLISH, qos };
  return {
    squall: 1,
    name: 'trial',
    targets: { broker: { protocol: 'mqtt', urls: [url] } },
    groups: {
      ...(subscribe === undefined ? {} : { readers }),
      devices: { target: 'broker', clients: 10, publish },
    },
    stages: [{ name: 'publish', run: { devices: 'publish' }, for: '10s' }],
  };
}

async function check(workspace: Workspace, needs: Needs): Promise<SquallResult> {
  return squall(['check', workspace.plan(plan(needs)), '--connect']);
}

brokerTest.concurrent(
  'all is well: connected, granted, acknowledged, and seen to come back',
  async ({ broker, workspace, expect }) => {
    // Of the readers, the one is taken that is to see it: here the third.
    const result = await check(workspace, { url: broker.url, subscribe: 'up/{{n - 2}}' });
    expect(result.stdout).toMatch(/readers {2}try\w+-readers-3 at mqtt:\/\/127\.0\.0\.1/);
    expect(result.stdout).toContain('up/1 (QoS 1) granted');
    expect(result.stdout).toContain('up/1 (QoS 1, 64 bytes) acknowledged');
    expect(result.stdout).toContain('up/1 came to group readers');
    expect(result.code).toBe(0);

    const spread = { urls: ['mqtt://127.0.0.1:1', broker.url], spread: 'first' };
    const targets = { broker: { protocol: 'mqtt', ...spread } };
    const file = workspace.plan({ ...plan({ url: broker.url }), targets });
    const second = await squall(['check', file, '--connect']);
    expect(second.stdout).toContain('ms, after connection refused at mqtt://127.0.0.1:1\n');
    expect(second.code).toBe(0);

    const alone = await check(workspace, { url: broker.url, qos: 0 });
    expect(alone.stdout).toContain('up/1 came to its own client');
    expect(alone.code).toBe(0);
  },
);

test.concurrent('nobody there, nobody of that name, nobody who answers', async ({ expect }) => {
  const workspace = new Workspace();
  const silent = await FaultBroker.start({ faults: [{ way: 'connect', kind: 'drop' }] });
  const cases = [
    ['mqtt://127.0.0.1:1', 'connection refused', 'nothing listens there'],
    ['mqtt://no-such-host.invalid', 'host name', 'getent hosts'],
    [silent.url, 'timed out', 'a firewall, a wrong port, or a broker that is stuck'],
  ] as const;
  await Promise.all(
    cases.map(async ([url, reason, hint]) => {
      const result = await check(workspace, { url });
      expect(result.stdout).toContain(`devices: connect failed at ${url}`);
      expect(result.stdout).toContain(reason);
      expect(result.stdout).toContain(hint);
      expect(result.code).toBe(99);
      expect(tookS(result)).toBeLessThan(LIMIT_S);
    }),
  );
  await silent.close();
  workspace.dispose();
});

test.concurrent('refused by a code: CONNACK, SUBACK', async ({ expect }) => {
  const workspace = new Workspace();
  const locked = await FaultBroker.start({
    faults: [{ way: 'connect', kind: 'refuse', reasonCode: 4 }],
  });
  const mute = await FaultBroker.start({
    faults: [{ way: 'subscribe', kind: 'refuse', reasonCode: 0x80 }],
  });
  const [password, subscription, unseen, acknowledged] = await Promise.all([
    check(workspace, { url: locked.url }),
    check(workspace, { url: mute.url, subscribe: 'up/+' }),
    check(workspace, { url: mute.url, qos: 0 }),
    check(workspace, { url: mute.url, qos: 1 }),
  ]);
  expect(password.stdout).toContain('bad user name or password (0x04)');
  expect(password.stdout).toContain('set username and password of the group');
  expect(password.code).toBe(99);
  expect(subscription.stdout).toContain('readers: subscribe failed');
  expect(subscription.stdout).toContain('up/+: subscription refused (0x80)');
  expect(subscription.stdout).toContain('look at the access rules');
  expect(subscription.code).toBe(99);
  expect(unseen.stdout).toContain('could not be seen');
  expect(unseen.stdout).toContain('at QoS 0 nothing tells whether it arrived');
  expect(unseen.code).toBe(112);
  expect(acknowledged.stdout).toContain('the broker acknowledged it');
  expect(acknowledged.code).toBe(0);
  await Promise.all([locked.close(), mute.close()]);
  workspace.dispose();
});

test.concurrent('TLS and WebSocket: whom the broker is, and whom it wants', async ({
  expect,
  skip,
}) => {
  const missing = securedBrokerMissing();
  if (missing !== null) skip(missing);
  const broker = await SecuredBroker.start();
  const workspace = new Workspace();
  broker.giveAuthority(workspace.folder);
  const { ports } = broker;
  const tried = async (target: object) => {
    const written = plan({ url: '' });
    const devices = {
      target: 'broker',
      clients: 1,
      publish: { ...PUBLISH, topic: 'shared/trial' },
    };
    const targets = { broker: { protocol: 'mqtt', version: 5, ...target } };
    const file = workspace.plan({ ...written, targets, groups: { devices } });
    return squall(['check', file, '--connect']);
  };
  const secured = { ca: 'ca.pem' };
  const [good, unknown, nameless, plain] = await Promise.all([
    tried({ urls: [`wss://localhost:${ports.wss}/mqtt`], tls: secured }),
    tried({ urls: [`mqtts://localhost:${ports.tls}`] }),
    tried({ urls: [`mqtts://localhost:${ports.strict}`], tls: secured }),
    tried({ urls: [`mqtt://localhost:${ports.tls}`] }),
  ]);
  expect(good.stdout).toContain('MQTT 5, ');
  expect(good.stdout).toContain('shared/trial came to its own client');
  expect(good.code).toBe(0);
  expect(unknown.stdout).toMatch(/TLS: .*authority/);
  expect(unknown.stdout).toContain('name the file of the authority in tls.ca');
  expect(nameless.stdout).toMatch(/TLS: broker (requires|refuses|wants)/);
  expect(nameless.stdout).toContain('give tls.cert and tls.key');
  expect(plain.stdout).toContain('a TLS port that is dialled by mqtt:// looks like that, too');
  expect([unknown.code, nameless.code, plain.code]).toEqual([99, 99, 99]);
  workspace.dispose();
  await broker.dispose();
});

brokerTest.concurrent(
  'no message comes back: who was subscribed to what, and what was sent',
  // Only for the reason why there is no Mosquitto here.
  async ({ broker: _broker, workspace, expect }) => {
    const rules = path.join(workspace.folder, 'rules');
    writeFileSync(rules, 'topic write up/#\n');
    const broker = await Mosquitto.start([`acl_file ${rules}`]);
    const result = await check(workspace, { url: broker.url, subscribe: 'up/+' });
    await broker.dispose();
    expect(result.stdout).toContain('devices: come back failed');
    expect(result.stdout).toContain(
      'no message on up/1 within 2500 ms, though group readers is subscribed to up/+',
    );
    expect(result.stdout).toContain('look at its access rules');
    expect(result.code).toBe(99);
    expect(tookS(result)).toBeLessThan(LIMIT_S);
  },
);
