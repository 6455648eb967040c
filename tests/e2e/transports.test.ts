import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { endianness } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test as base } from 'vitest';
import { Authority } from '../../packages/mqtt/test/fixture/certificates.ts';
import { deliveryPlan, MESSAGES } from '../fixtures/deliveries.ts';
import { Mosquitto } from '../fixtures/mosquitto.ts';
import {
  BROKER_IN_NARROW_NETWORK,
  noNarrowNetwork,
  runInNarrowNetwork,
} from '../fixtures/narrow-network.ts';
import { freePort, until } from '../fixtures/process.ts';
import { SecuredBroker, securedBrokerMissing } from '../fixtures/secured-broker.ts';
import { MAIN, reportOf, Workspace } from '../fixtures/squall.ts';

/** One broker for all: each test has topics of its own. */
let shared: SecuredBroker | null = null;

beforeAll(async () => {
  if (securedBrokerMissing() === null) shared = await SecuredBroker.start();
});
afterAll(async () => await shared?.dispose());

const test = base.extend<{ broker: SecuredBroker; workspace: Workspace }>({
  broker: async ({ skip }, use) => {
    if (shared === null) skip(securedBrokerMissing() ?? 'no broker');
    else await use(shared);
  },
  // The pattern is empty because vitest reads the names of needed fixtures from it.
  workspace: async ({}, use) => {
    const workspace = new Workspace();
    await use(workspace);
    workspace.dispose();
  },
});

const PUBLISHERS = 6;
const SENT = PUBLISHERS * MESSAGES;

interface Given {
  readonly target: object;
  /** `shared/<name>/<n>` unless said. */
  readonly topic?: string;
  readonly filter?: string | readonly string[];
  readonly connect?: Readonly<Record<string, unknown>>;
}

/**
 * Six clients publish to a topic each, two more see all of it. The groups bear the name of their
 * test, since their client ids are made of it and all tests share a broker.
 */
function planOf(name: string, given: Given): Record<string, unknown> {
  const { target, topic = `shared/${name}/{{n}}`, filter = `shared/${name}/#` } = given;
  const connect = given.connect === undefined ? {} : { connect: given.connect };
  return deliveryPlan('', {
    publishers: { [`pub-${name}`]: { clients: PUBLISHERS, topic, ...connect } },
    subscribers: { [`sub-${name}`]: { clients: 2, topic: filter, ...connect } },
    more: { targets: { broker: { protocol: 'mqtt', ...target } } },
  });
}

describe.concurrent('deliveries over each transport', { timeout: 60_000 }, () => {
  test.for([
    ['TLS', 'tls', 'mqtts://localhost:'],
    ['WebSocket', 'ws', 'ws://127.0.0.1:'],
    ['WebSocket over TLS', 'wss', 'wss://127.0.0.1:'],
  ] as const)(
    '%s: every message arrives once, and the books balance',
    async ([, port, url], { broker, workspace }) => {
      broker.giveAuthority(workspace.folder);
      const address = `${url}${broker.ports[port]}${port.startsWith('w') ? '/mqtt' : ''}`;
      const tls = port === 'ws' ? {} : { tls: { ca: 'ca.pem' } };
      const plan = planOf(port, { target: { urls: [address], ...tls } });
      const result = await workspace.run([workspace.plan(plan), '--agents', '2', '--workers', '1']);
      const report = reportOf(result);
      expect(report.verdict, result.output).toBe('pass');
      expect(report.groups[`pub-${port}`]?.counters).toMatchObject({
        connected: PUBLISHERS,
        sent: SENT,
        acked: SENT,
      });
      expect(report.ledger).toMatchObject([
        { expected: 2 * SENT, unique: 2 * SENT, lost: 0, duplicated: 0 },
      ]);
    },
  );

  test('a certificate for each client: the broker knows every one by its own', async ({
    broker,
    workspace,
  }) => {
    broker.giveAuthority(workspace.folder);
    broker.giveIdentities(workspace.folder, PUBLISHERS);
    const tls = { ca: 'ca.pem', cert: 'certs/{{n}}.pem', key: 'certs/{{n}}.key' };
    const urls = [`mqtts://127.0.0.1:${broker.ports.strict}`];
    // The broker lets each user write to the topic with its own name, and to no other.
    const topics = { topic: 'own/files/device-{{n}}/up', filter: 'own/files/#' };
    const plan = planOf('own', { target: { urls, tls }, ...topics });
    const result = await workspace.run([workspace.plan(plan), '--agents', '2', '--workers', '1']);
    const report = reportOf(result);
    expect(report.verdict, result.output).toBe('pass');
    expect(report.ledger).toMatchObject([{ expected: 2 * SENT, unique: 2 * SENT, lost: 0 }]);
  });

  test('certificates named by the columns of a CSV file go to the clients of their rows', async ({
    broker,
    workspace,
  }) => {
    broker.giveAuthority(workspace.folder);
    broker.giveIdentities(workspace.folder, PUBLISHERS);
    // The last certificate is the first client's, and so on.
    const rows = Array.from({ length: PUBLISHERS }, (_, k) => PUBLISHERS - k);
    const lines = rows.map((n) => `device-${n},certs/${n}.pem,certs/${n}.key`);
    writeFileSync(
      path.join(workspace.folder, 'devices.csv'),
      ['name,cert,key', ...lines, ''].join('\n'),
    );
    const urls = [`mqtts://127.0.0.1:${broker.ports.strict}`];
    const tls = { ca: 'ca.pem', cert: '{{csv.cert}}', key: '{{csv.key}}' };
    const plan = deliveryPlan('', {
      publishers: { 'pub-csv': { clients: PUBLISHERS, topic: 'own/csv/{{csv.name}}/up' } },
      subscribers: { 'sub-csv': { clients: 2, topic: 'own/csv/#' } },
      more: {
        targets: {
          secured: { protocol: 'mqtt', urls, tls },
          broker: { protocol: 'mqtt', urls: [broker.plain.url] },
        },
      },
    });
    const groups = plan['groups'] as Record<string, Record<string, unknown>>;
    Object.assign(groups['pub-csv'] ?? {}, { target: 'secured', from: 'devices.csv' });
    const result = await workspace.run([workspace.plan(plan), '--agents', '2', '--workers', '1']);
    const report = reportOf(result);
    expect(report.verdict, result.output).toBe('pass');
    expect(report.ledger).toMatchObject([{ expected: 2 * SENT, lost: 0 }]);
  });

  test('clients that connect again resume their TLS sessions', async ({ broker, workspace }) => {
    broker.giveAuthority(workspace.folder);
    const urls = [`mqtts://127.0.0.1:${broker.ports.tls}`];
    const plan = {
      ...planOf('again', { target: { urls, tls: { ca: 'ca.pem' } } }),
      stages: [
        { name: 'first', run: { 'pub-again': 'publish' }, for: '1s' },
        { name: 'off', run: { 'pub-again': 'disconnect' } },
        { name: 'again', run: { 'pub-again': 'publish' }, for: '1s' },
      ],
    };
    const report = reportOf(await workspace.run([workspace.plan(plan), '--workers', '1']));
    expect(report.groups['pub-again']?.counters).toMatchObject({
      connected: 2 * PUBLISHERS,
      tls_resumed: PUBLISHERS,
    });
  });
});

interface Failing {
  readonly reason: string;
  readonly url: (broker: SecuredBroker) => string;
  readonly tls?: object;
}

const CA = { ca: 'ca.pem' };
const FAILING: Readonly<Record<string, Failing>> = {
  'an authority that is not ours': {
    url: ({ ports }) => `mqtts://127.0.0.1:${ports.tls}`,
    tls: { ca: 'stranger.pem' },
    reason: 'TLS: certificate of an unknown authority: name the file of its authority in tls.ca',
  },
  'a certificate that has expired': {
    url: ({ ports }) => `mqtts://localhost:${ports.expired}`,
    tls: CA,
    reason: 'TLS: certificate has expired',
  },
  'a certificate for another host': {
    url: ({ ports }) => `wss://localhost:${ports.wss}`,
    tls: { ...CA, servername: 'broker.example' },
    reason: 'TLS: certificate is for another host: set tls.servername to a name that it bears',
  },
  'no client certificate': {
    url: ({ ports }) => `mqtts://127.0.0.1:${ports.strict}`,
    tls: CA,
    reason: 'TLS: broker requires a client certificate',
  },
  'TLS to a plain port': {
    url: ({ plain }) => `mqtts://127.0.0.1:${plain.port}`,
    tls: CA,
    reason: 'TLS: closed by the peer during the handshake: does the port speak TLS?',
  },
  'plain MQTT to a port with TLS': {
    url: ({ ports }) => `mqtt://127.0.0.1:${ports.tls}`,
    reason: 'connection reset',
  },
  'WebSocket to a port without it': {
    url: ({ plain }) => `ws://127.0.0.1:${plain.port}`,
    reason: 'WebSocket: closed by the peer during the upgrade: does the port speak WebSocket?',
  },
};

describe.concurrent('connections that fail', { timeout: 60_000 }, () => {
  test('each has one reason, with an example', async ({ broker, workspace }) => {
    broker.giveAuthority(workspace.folder);
    const stranger = new Authority('Another authority');
    copyFileSync(stranger.ca, path.join(workspace.folder, 'stranger.pem'));
    stranger.dispose();
    const kinds = Object.entries(FAILING);
    const plan = {
      squall: 1,
      name: 'failing',
      targets: Object.fromEntries(
        kinds.map(([, { url, tls }], index) => [
          `t${index}`,
          { protocol: 'mqtt', urls: [url(broker)], ...(tls === undefined ? {} : { tls }) },
        ]),
      ),
      groups: Object.fromEntries(
        kinds.map((_, index) => [
          `g${index}`,
          { target: `t${index}`, clients: 2, connect: { retries: 0, timeout: '5s' } },
        ]),
      ),
      stages: [
        { name: 'connect', run: Object.fromEntries(kinds.map((_, k) => [`g${k}`, 'connect'])) },
      ],
    };
    const result = await workspace.run([workspace.plan(plan), '--workers', '1']);
    const report = reportOf(result);
    const seen = kinds.map(([what], k) => [
      what,
      report.groups[`g${k}`]?.reasons['connect_failed'],
    ]);
    expect(Object.fromEntries(seen), result.output).toEqual(
      Object.fromEntries(kinds.map(([what, { reason }]) => [what, { [reason]: 2 }])),
    );
    expect(report.stages[0]?.durationUs).toBeLessThan(5e6);
    expect(result.output).toContain('127.0.0.1');
  });

  test('a certificate that is not there is told when the plan is read', async ({
    broker,
    workspace,
  }) => {
    broker.giveAuthority(workspace.folder);
    broker.giveIdentities(workspace.folder, 2);
    const tls = { ca: 'ca.pem', cert: 'certs/{{n}}.pem', key: 'certs/{{n}}.key' };
    const urls = [`mqtts://127.0.0.1:${broker.ports.strict}`];
    const plan = planOf('missing', { target: { urls, tls } });
    const result = await workspace.run([workspace.plan(plan)]);
    expect(result.output).toContain('certs/3.pem');
    expect(result.report).toBeNull();
    expect(result.code).toBe(104);
  });
});

describe.concurrent('several addresses', { timeout: 60_000 }, () => {
  test('first: clients turn to the next address when the one before does not answer', async ({
    broker,
    workspace,
  }) => {
    const dead = await freePort();
    const urls = [`mqtt://127.0.0.1:${dead}`, broker.plain.url];
    const plan = planOf('first', {
      target: { urls, spread: 'first' },
      connect: { backoff: { min: '50ms', max: '100ms' } },
    });
    const result = await workspace.run([workspace.plan(plan), '--workers', '1']);
    const report = reportOf(result);
    expect(report.groups['pub-first']?.counters).toMatchObject({
      connect_attempts: 2 * PUBLISHERS,
      failovers: PUBLISHERS,
      connected: PUBLISHERS,
      acked: SENT,
    });
    expect(report.groups['pub-first']?.reasons['connect_failed']).toEqual({
      'connection refused': PUBLISHERS,
    });
    expect(report.ledger).toMatchObject([{ expected: 2 * SENT, unique: 2 * SENT, lost: 0 }]);
  });

  test('blocks: each address has its contiguous part, and {{block.n}} begins anew in each', async ({
    broker,
    workspace,
    onTestFinished,
  }) => {
    const other = await Mosquitto.start();
    onTestFinished(async () => await other.dispose());
    const urls = [broker.plain.url, other.url];
    const plan = planOf('blocks', {
      target: { urls, spread: 'blocks' },
      topic: 'shared/blocks/{{block.n}}/{{n}}',
      filter: ['shared/blocks/1/#', 'shared/blocks/2/#', 'shared/blocks/3/#'],
    });
    const result = await workspace.run([workspace.plan(plan), '--agents', '2', '--workers', '1']);
    const report = reportOf(result);
    // Brokers that know nothing of each other: each watcher sees the half of its own.
    expect(report.groups['sub-blocks']?.counters['received'], result.output).toBe(SENT);
    expect(await other.publishesReceived(SENT / 2)).toBe(SENT / 2);
  });
});

describe.concurrent('source addresses', { timeout: 60_000 }, () => {
  const SOURCES = [2, 3, 4, 5, 6, 7, 8, 9].map((n) => `127.0.0.${n}`);
  test('are used by turns, and the broker sees them', async ({ broker, workspace }) => {
    // The last one is no address of this host: the others are used.
    const plan = workspace.plan(sourcesPlan(broker.plain.url, [...SOURCES, '203.0.113.1']));
    const running = workspace.start([plan, '--agents', '2', '--workers', '1']);
    let seen = new Map<string, number>();
    await until(
      '80 connections',
      () => {
        seen = peersOf(broker.plain.port);
        return [...seen.values()].reduce((a, b) => a + b, 0) === 80;
      },
      20_000,
    );
    expect(Object.fromEntries(seen)).toEqual(
      Object.fromEntries(SOURCES.map((address) => [address, 10])),
    );
    expect((await running.result).code).toBe(0);
  });

  test('hold more connections to one address than there are local ports', async ({
    workspace,
    skip,
  }) => {
    const missing = noNarrowNetwork();
    if (missing !== null) skip(missing);
    const ports = 40;
    const output = (sourceAddresses: readonly string[]) => {
      const plan = workspace.plan(sourcesPlan(BROKER_IN_NARROW_NETWORK, sourceAddresses));
      const run = [MAIN, 'run', plan, '--workers', '1', '--out', workspace.out()];
      return runInNarrowNetwork({ ports, folder: workspace.folder, run });
    };
    expect(await output([])).toContain(
      `${ports} local ports from one source address to 127.0.0.1:1883, needed: 80`,
    );
    const held = await output(['127.0.0.2', '127.0.0.3', '127.0.0.4']);
    expect(held).toMatch(/verdict {2}pass/);
    expect(held).toMatch(/devices +80\b/);
  });

  test('of which a host has none are refused before any load', async ({ broker, workspace }) => {
    const result = await workspace.run([
      workspace.plan(sourcesPlan(broker.plain.url, ['203.0.113.1'])),
    ]);
    expect(result.output).toContain(
      'none of the sourceAddresses of group devices is an address of this host (203.0.113.1)',
    );
    expect(result.code).not.toBe(0);
  });
});

function sourcesPlan(url: string, sourceAddresses: readonly string[]) {
  return {
    squall: 1,
    name: 'sources',
    targets: { broker: { protocol: 'mqtt', urls: [url] } },
    groups: {
      devices: {
        target: 'broker',
        clients: 80,
        ...(sourceAddresses.length === 0 ? {} : { sourceAddresses }),
      },
    },
    stages: [{ name: 'hold', run: { devices: 'connect' }, for: '4s' }],
  };
}

/** TCP_ESTABLISHED, as the kernel writes it. */
const ESTABLISHED = '01';

/** Established connections to a local port, by the address that they come from, as the kernel says. */
function peersOf(port: number): Map<string, number> {
  const peers = new Map<string, number>();
  const own = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', state] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED || !local.endsWith(own)) continue;
    const [address = ''] = remote.split(':');
    // Bytes of the address in the order of the machine.
    const bytes = [...Buffer.from(address, 'hex')];
    const peer = (endianness() === 'LE' ? bytes.toReversed() : bytes).join('.');
    if (peer !== '127.0.0.1') peers.set(peer, (peers.get(peer) ?? 0) + 1);
  }
  return peers;
}
