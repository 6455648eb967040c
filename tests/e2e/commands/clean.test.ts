import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, connectAsync } from 'mqtt';
import { brokerTest as test } from '../../fixtures/broker-test.ts';
import { Mosquitto } from '../../fixtures/mosquitto.ts';
import { TestService } from '../../fixtures/service.ts';
import { reportOf, squall, type SquallResult, type Workspace } from '../../fixtures/squall.ts';

const CLIENTS = 12;

/** Devices that leave a retained message each, and a session each. */
function plan(url: string): Record<string, unknown> {
  return {
    squall: 1,
    name: 'leftovers',
    targets: { broker: { protocol: 'mqtt', urls: [url] } },
    groups: {
      devices: {
        target: 'broker',
        clients: CLIENTS,
        clientId: 'kept-{{n}}',
        username: 'somebody',
        password: 'a-good-secret',
        connect: { rate: '1000/s', cleanStart: false },
        subscribe: { topic: 'down/{{n}}', qos: 1 },
        publish: {
          topic: 'up/{{run}}/{{n}}',
          qos: 1,
          retain: true,
          payload: '64B',
          every: '200ms',
        },
      },
      others: {
        target: 'broker',
        clients: 3,
        publish: { topic: 'plain/{{n}}', qos: 1, payload: '64B', every: '200ms' },
      },
    },
    stages: [
      { name: 'connect', run: { devices: ['connect', 'subscribe'] } },
      { name: 'publish', run: { devices: 'publish', others: 'publish' }, for: '1s' },
    ],
    settle: { quiet: '500ms', max: '5s' },
  };
}

interface CleanedJson {
  readonly groups: readonly {
    readonly group: string;
    readonly retained: Readonly<Record<string, number | null>>;
    readonly sessions: Readonly<Record<string, number>>;
    readonly failures: readonly unknown[];
  }[];
}

async function clean(run: string, ...args: string[]): Promise<SquallResult> {
  return squall(['clean', run, ...args]);
}

test.concurrent('what a run left on the broker is found, told by its number, and gone afterwards', {
  timeout: 90_000,
}, async ({ broker, workspace, expect }) => {
  const file = workspace.plan(plan(broker.url));
  const run = await workspace.run([file]);
  expect(run.code, run.output).toBe(0);
  await someoneElse(broker);
  expect(await leftOn(broker)).toEqual({ retained: CLIENTS + 1, sessions: CLIENTS });

  const hidden = await clean(run.out);
  expect(hidden.code).toBe(2);
  expect(hidden.stderr).toContain('passwords are not in the report');
  expect(hidden.stderr).toContain('--plan FILE');

  const dry = await clean(run.out, '--plan', file, '--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toMatch(/devices {2}retained messages {2}12 topics · 12 found\n/);
  expect(dry.stdout).toMatch(/devices {2}sessions {10} 12 clients · not asked for/);
  expect(dry.stdout).not.toContain('others');
  expect(await leftOn(broker)).toEqual({ retained: CLIENTS + 1, sessions: CLIENTS });

  const cleaned = await clean(run.out, '--plan', file, '--json', '--rate', '200/s');
  expect(cleaned.code, cleaned.output).toBe(0);
  const { groups } = JSON.parse(cleaned.stdout) as CleanedJson;
  expect(groups).toEqual([
    {
      group: 'devices',
      retained: { topics: CLIENTS, found: CLIENTS, unknown: 0, removed: CLIENTS, left: 0 },
      sessions: { clients: CLIENTS, removed: CLIENTS, failed: 0 },
      rocketmq: null,
      failures: [],
    },
  ]);
  // What is not of the run is left alone.
  expect(await leftOn(broker)).toEqual({ retained: 1, sessions: 0 });

  const again = await clean(run.out, '--plan', file);
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('12 topics · 0 found · 0 removed · 0 left');
  expect(again.stdout).toContain('12 clients · 0 removed · 0 not known');
});

test.concurrent('a plan with cleanup leaves nothing, and its report says how much it removed', {
  timeout: 90_000,
}, async ({ broker, workspace, expect }) => {
  const file = workspace.plan({ ...plan(broker.url), cleanup: { rate: '500/s' } });
  await someoneElse(broker);
  const run = await workspace.run([file, '--agents', '2']);
  expect(run.code, run.output).toBe(0);
  expect(reportOf(run).notes).toContain(
    'Cleanup of devices: 12 retained messages removed; 12 sessions removed.',
  );
  expect(await leftOn(broker)).toEqual({ retained: 1, sessions: 0 });
});

test.concurrent('a run of a controller, MQTT 5, topics that differ by message', {
  timeout: 90_000,
}, async ({ broker, workspace, expect }) => {
  const service = await TestService.start(workspace, { agents: ['a'] });
  const { id } = await service.post<{ id: string }>('/v1/runs', {
    text: JSON.stringify({
      squall: 1,
      name: 'leftovers-5',
      targets: { broker: { protocol: 'mqtt', version: 5, urls: [broker.url] } },
      groups: {
        devices: {
          target: 'broker',
          clients: CLIENTS,
          clientId: 'kept-{{n}}',
          connect: { rate: '1000/s', cleanStart: false, sessionExpiry: '1h' },
          publish: {
            topic: 'log/{{n}}/{{seq}}',
            qos: 1,
            retain: true,
            payload: '64B',
            rate: '100/s',
            count: 60,
          },
        },
      },
      stages: [{ name: 'publish', run: { devices: 'publish' } }],
    }),
  });
  const run = await service.json<{ verdict: string }>(`/v1/runs/${id}?wait=60s`);
  expect(run.verdict).toBe('pass');
  expect(await leftOn(broker)).toEqual({ retained: 60, sessions: CLIENTS });
  const cleaned = await service.command(['clean', id, '--json']).result;
  expect(cleaned.code, cleaned.output).toBe(0);
  expect(JSON.parse(cleaned.stdout)).toMatchObject({
    run: id,
    groups: [
      {
        retained: { topics: null, found: 60, unknown: 0, removed: 60, left: 0 },
        sessions: { clients: CLIENTS, removed: CLIENTS, failed: 0 },
        rocketmq: null,
      },
    ],
  });
  expect(await leftOn(broker)).toEqual({ retained: 0, sessions: 0 });
  await service.close();
});

test.concurrent('a broker that lets nobody look gets an empty message on every topic', {
  timeout: 90_000,
}, async ({ broker: _broker, workspace, expect }) => {
  const rules = path.join(workspace.folder, 'rules');
  writeFileSync(rules, 'topic write up/#\nuser admin\ntopic readwrite #\n');
  const broker = await Mosquitto.start([`acl_file ${rules}`]);
  const publish = { topic: 'up/{{n}}', qos: 1, retain: true, payload: '64B', every: '200ms' };
  const file = workspace.plan({
    squall: 1,
    name: 'mute',
    targets: { broker: { protocol: 'mqtt', urls: [broker.url] } },
    groups: { devices: { target: 'broker', clients: CLIENTS, publish } },
    stages: [{ name: 'publish', run: { devices: 'publish' }, for: '1s' }],
  });
  const run = await workspace.run([file]);
  expect((await leftOn(broker, 'admin')).retained).toBe(CLIENTS);
  const cleaned = await clean(run.out);
  expect(cleaned.stdout).toContain('12 topics · nobody may look · 12 removed · 0 left');
  expect(cleaned.stdout).toContain('grants the subscription and passes nothing on');
  expect(cleaned.code).toBe(99);
  expect((await leftOn(broker, 'admin')).retained).toBe(0);
  await broker.dispose();
});

test.concurrent('a broker that is away, and a run that is not there, are told', async ({
  workspace,
  expect,
}) => {
  const none = await clean(`${workspace.folder}/nothing`);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('there is no report at');
  const dead = await deadBrokersRun(workspace);
  const result = await clean(dead);
  expect(result.code).toBe(99);
  expect(result.stdout).toContain('connection refused');
});

/** The report of a run whose broker was never there. */
async function deadBrokersRun(workspace: Workspace): Promise<string> {
  const publish = { topic: 'up', retain: true, payload: '64B', every: '1s' };
  const once = { retries: 0 };
  const result = await workspace.run([
    workspace.plan({
      squall: 1,
      name: 'dead',
      targets: { broker: { protocol: 'mqtt', urls: ['mqtt://127.0.0.1:1'] } },
      groups: { devices: { target: 'broker', clients: 2, connect: once, publish } },
      stages: [{ name: 'publish', run: { devices: 'publish' }, for: '1s' }],
    }),
  ]);
  return result.out;
}

/** A retained message that no run has to do with, on a topic that looks like one of its. */
async function someoneElse(broker: Mosquitto): Promise<void> {
  const client = await connectAsync(broker.url);
  await client.publishAsync('up/else/1', 'mine', { qos: 1, retain: true });
  await client.endAsync();
}

/** Retained messages on the broker, and sessions of the devices that are kept. */
async function leftOn(
  broker: Mosquitto,
  username = 'looker',
): Promise<{ retained: number; sessions: number }> {
  const client = await connectAsync(broker.url, { username });
  let retained = 0;
  client.on('message', (_topic, _payload, packet) => {
    if (packet.retain) retained++;
  });
  await client.subscribeAsync('#');
  await delay(500);
  await client.endAsync();
  const kept = await Promise.all(
    Array.from({ length: CLIENTS }, (_, k) => hasSession(broker, `kept-${k + 1}`)),
  );
  return { retained, sessions: kept.filter(Boolean).length };
}

/** Looks, and leaves it as it was: what was not there is removed again. */
async function hasSession(broker: Mosquitto, clientId: string): Promise<boolean> {
  const client = connect(broker.url, { clientId, clean: false });
  const present = await new Promise<boolean>((resolve) => {
    client.once('connect', ({ sessionPresent }) => resolve(sessionPresent));
  });
  await client.endAsync();
  if (!present) await (await connectAsync(broker.url, { clientId, clean: true })).endAsync();
  return present;
}
