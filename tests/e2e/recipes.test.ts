import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectAsync, type IPublishPacket, type MqttClient } from 'mqtt';
import type { FaultBroker } from '@squall/mqtt/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Mosquitto } from '../fixtures/mosquitto.ts';
import { checkReport, type ReportJson } from '../fixtures/report-laws.ts';
import { freePort } from '../fixtures/process.ts';
import { ScramServer } from '../fixtures/scram-server.ts';
import { SecuredBroker, securedBrokerMissing } from '../fixtures/secured-broker.ts';
import { TestService } from '../fixtures/service.ts';
import { Workspace } from '../fixtures/squall.ts';

const FOLDER = fileURLToPath(new URL('../../plans/recipes', import.meta.url));
/** Runs that go on at a time: they mostly wait for announced moments. */
const AGENTS = 10;
/** The controller reads two plans at a time, and lets some more wait. */
const SUBMITTERS = 3;
/** Messages of one recipe that are looked at. */
const MAX_HEARD = 5_000;
/** Clients of the recipe with certificates. */
const CERTIFICATES = 4;

interface Outcome {
  readonly report: ReportJson;
  /** What a client of another library heard on the recipe's topics. */
  readonly heard: readonly Heard[];
}

interface Heard {
  readonly topic: string;
  readonly payload: Buffer;
  readonly packet: IPublishPacket;
}

interface Recipe {
  /** Variables beside `broker` and `duration: 1s`. */
  readonly vars?: Readonly<Record<string, string>>;
  readonly scale?: number;
  /** 1 where it is left out. */
  readonly agents?: number;
  /** First level of its topics, where messages are looked at. */
  readonly topics?: string;
  /** Beyond the verdict `pass`. */
  readonly holds?: (outcome: Outcome) => void;
}

const counters = ({ report }: Outcome, group: string) => report.groups[group]?.counters ?? {};
/** As the group and a client of another library count it. */
function sentBy(outcome: Outcome, group: string): number {
  const { planned, acked } = counters(outcome, group);
  expect({ acked, heard: outcome.heard.length }).toEqual({ acked: planned, heard: planned });
  return planned ?? 0;
}
const json = ({ payload }: Heard): unknown => JSON.parse(payload.toString());

/** What is true of a recipe besides its own thresholds. A recipe without an entry runs as it is. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  'devices-from-csv': {
    agents: 2,
    topics: 'sites',
    holds: (outcome) => {
      expect(new Set(outcome.heard.map(({ topic }) => topic))).toEqual(
        new Set([
          'sites/berlin/SN-0001',
          'sites/oslo/SN-0002',
          'sites/berlin/SN-0003',
          'sites/são paulo/SN-0004',
        ]),
      );
      expect(JSON.stringify(outcome.report)).not.toContain('s3cr,et');
      expect(outcome.report.ledger[0]).toMatchObject({ pairs: 4, expected: 20, unique: 20 });
    },
  },
  'json-payload': {
    topics: 'devices',
    holds: ({ heard, report }) => {
      expect(heard).toHaveLength(50);
      for (const message of heard) {
        expect(json(message)).toMatchObject({
          device: expect.stringMatching(/^dev-\d{4}$/),
          seq: expect.any(Number),
          at: expect.any(Number),
          values: { unit: 'C' },
          stamp: expect.stringMatching(/^U1EB[\w-]{50}$/),
        });
      }
      expect(report.ledger[0]).toMatchObject({ expected: 50, unique: 50 });
    },
  },
  'fixed-payloads': {
    topics: 'fixed',
    holds: ({ heard, report }) => {
      const of = (kind: string) => heard.filter(({ topic }) => topic.startsWith(`fixed/${kind}/`));
      const texts = (kind: string) => new Set(of(kind).map(({ payload }) => payload.toString()));
      expect(texts('text')).toEqual(new Set(['grüß Gott']));
      expect(new Set(of('bytes').map(({ payload }) => payload.toString('hex')))).toEqual(
        new Set(['0001ff']),
      );
      for (const line of texts('line')) {
        expect(line).toMatch(/^weather,station=s[01] celsius=-?\d+ \d{13} U1EB[\w-]{50}$/);
      }
      expect(report.ledger).toContainEqual(
        expect.objectContaining({ from: 'devices.line', expected: 20, unique: 20 }),
      );
    },
  },
  'files-as-payload': {
    topics: 'recorded',
    holds: ({ heard }) => {
      const kinds = new Set(heard.map(({ payload }) => payload.toString()));
      const files = ['alarm', 'status'].map((name) =>
        readFileSync(path.join(FOLDER, 'payloads', `${name}.json`), 'utf8'),
      );
      expect(kinds).toEqual(new Set(files));
    },
  },
  'made-up-payloads': {
    topics: 'made-up',
    holds: ({ heard }) => {
      const own = heard.filter(({ topic }) => topic === 'made-up/random/1');
      const rests = own.map(({ payload }) => payload.subarray(40).toString('hex'));
      expect(new Set(rests).size).toBe(own.length);
      expect(own.length).toBeGreaterThan(1);
    },
  },
  'topics-by-weight': {
    topics: 'weighted',
    holds: (outcome) => {
      const states = outcome.heard.filter(({ topic }) => topic.endsWith('/state'));
      expect(outcome.heard).toHaveLength(80);
      expect(states.length).toBeGreaterThanOrEqual(56);
      expect(states.length).toBeLessThanOrEqual(64);
    },
  },
  'message-properties': {
    topics: 'properties',
    holds: ({ heard }) => {
      const { packet } = heard.find(({ topic }) => topic.startsWith('properties/2/')) ?? {};
      expect(packet?.properties).toMatchObject({
        contentType: 'text/plain',
        payloadFormatIndicator: true,
        responseTopic: 'answers/2',
        userProperties: { site: 's2', tag: ['a', 'b'] },
      });
      expect(packet?.properties?.correlationData?.toString()).toMatch(/^2-\d+$/);
    },
  },
  tls: {
    holds: (outcome) => {
      expect(counters(outcome, 'devices')).toMatchObject({ connected: 40, tls_resumed: 20 });
      expect(outcome.report.ledger[0]).toMatchObject({ expected: 200, unique: 200 });
    },
  },
  'client-certificates': {
    holds: ({ report }) => expect(report.ledger[0]).toMatchObject({ expected: 20, unique: 20 }),
  },
  websocket: {
    holds: ({ report }) => expect(report.ledger[0]).toMatchObject({ expected: 100, unique: 100 }),
  },
  'fail-over': {
    holds: (outcome) =>
      expect(counters(outcome, 'devices')).toMatchObject({ failovers: 20, connected: 20 }),
  },
  'connections-only': { vars: { clients: '50' } },
  'message-count': {
    vars: { messages: '200' },
    holds: (outcome) => expect(counters(outcome, 'devices')).toMatchObject({ acked: 200 }),
  },
  // Its mean is 250 a second in the first second, and 500 in the second one.
  ramp: { topics: 'ramp', holds: (outcome) => expect(sentBy(outcome, 'devices')).toBe(750) },
  // 50 a second, but 1,000 a second for 300 ms; then 50 a second again.
  spike: {
    vars: { at: '300ms', length: '300ms' },
    topics: 'spike',
    holds: (outcome) => expect(sentBy(outcome, 'devices')).toBe(335 + 50),
  },
  steps: {
    vars: { step: '300ms' },
    topics: 'steps',
    // The last step stays for the rest of the second.
    holds: (outcome) => expect(sentBy(outcome, 'devices')).toBe(15 + 30 + 80),
  },
  'poisson-arrivals': {
    topics: 'poisson',
    // 200 by the mean: the same number in every run, and within five standard deviations.
    holds: (outcome) => {
      expect(Math.abs(sentBy(outcome, 'devices') - 200)).toBeLessThan(5 * Math.sqrt(200));
    },
  },
  'random-phase': {
    topics: 'phase',
    holds: (outcome) => {
      expect(sentBy(outcome, 'devices')).toBe(100);
      expect(new Set(outcome.heard.map(({ topic }) => topic)).size).toBe(100);
    },
  },
  rates: {
    holds: ({ report }) =>
      expect(report.groups['devices']?.streams).toMatchObject({
        heartbeat: { counters: { planned: 40 } },
        readings: { counters: { planned: 110 } },
      }),
  },
  churn: {
    topics: 'churn',
    holds: (outcome) => {
      expect(counters(outcome, 'visitors')).toMatchObject({ connected: 100, planned: 100 });
      expect(outcome.heard.length).toBe(counters(outcome, 'visitors')['acked']);
    },
  },
  'reconnect-storm': {
    vars: { duration: '3s' },
    holds: (outcome) => {
      const { times } = outcome.report.groups['devices'] ?? {};
      // The last of twenty comes back 950 ms after the first, which stays away for 300 ms.
      expect(times?.['recovery_time']).toMatchObject({ count: 20 });
      expect(times?.['recovery_time']?.maxUs).toBeGreaterThanOrEqual(1_200_000);
      expect(counters(outcome, 'devices')).toMatchObject({ disconnects: 20, connected: 60 });
    },
  },
  takeover: {
    vars: { duration: '2s' },
    holds: (outcome) => {
      expect(counters(outcome, 'devices')).toMatchObject({ connected: 30, disconnected: 0 });
    },
  },
  'sleep-and-wake': {
    topics: 'sleep',
    holds: (outcome) => {
      expect(outcome.report.ledger[0]).toMatchObject({ expected: 100, unique: 100 });
      expect(counters(outcome, 'devices')).toMatchObject({ session_present: 20, disconnects: 20 });
      expect(outcome.heard).toHaveLength(100);
    },
  },
  'request-response': {
    topics: 'answer',
    holds: (outcome) => {
      expect(counters(outcome, 'backend')).toMatchObject({ sent: 100, responses: 100 });
      expect(counters(outcome, 'devices')).toMatchObject({ sent: 100, acked: 100 });
      // Those of the other recipe send the payload back.
      const texts = outcome.heard.map(({ payload }) => payload.toString());
      const [own] = texts.filter((text) => text.startsWith('{'));
      expect(JSON.parse(own ?? '')).toMatchObject({ state: 'ok' });
      const [packet] = outcome.heard.filter(({ packet: { properties } }) => properties);
      expect(packet?.packet.properties?.correlationData).toHaveLength(40);
    },
  },
  'request-response-3.1.1': {
    holds: (outcome) => {
      expect(counters(outcome, 'backend')).toMatchObject({ sent: 100, responses: 100 });
      expect(outcome.report.groups['backend']?.times['response_time']).toMatchObject({
        count: 100,
      });
    },
  },
  unsubscribe: {
    topics: 'news',
    holds: (outcome) => {
      expect(counters(outcome, 'readers')).toMatchObject({ received: 100, unsubscribed: 10 });
      expect(outcome.heard).toHaveLength(20);
    },
  },
  'mqtt-3.1': {
    holds: ({ report }) => expect(report.ledger[0]).toMatchObject({ expected: 50, unique: 50 }),
  },
  identities: {
    topics: 'identities',
    holds: ({ heard }) =>
      expect(new Set(heard.map(({ topic }) => topic))).toEqual(
        new Set(
          Array.from(
            { length: 12 },
            (_, k) => `identities/acme/${(k + 1) % 4}/${String(k + 1).padStart(6, '0')}`,
          ),
        ),
      ),
  },
  wildcards: {
    holds: ({ report }) =>
      expect(report.ledger.map(({ from, to, qos }) => `${from} ${to} ${qos}`).toSorted()).toEqual([
        'devices.alarm readers.alarms 2',
        'devices.state readers.states 0',
      ]),
  },
  'retained-messages': {
    vars: { duration: '1s' },
    holds: ({ report }) => {
      expect(report.groups['late']?.counters).toMatchObject({ received: 40 });
      expect(report.notes).toContain(
        'Cleanup of devices: 20 retained messages removed; 0 sessions removed.',
      );
    },
  },
  'as-fast-as-possible': { vars: { clients: '5' } },
  'round-robin': {
    holds: (outcome) => expect(counters(outcome, 'devices')).toMatchObject({ acked: 50 }),
  },
  'enhanced-authentication': {
    holds: (outcome) => expect(counters(outcome, 'devices')).toMatchObject({ connected: 10 }),
  },
  'exactly-once': {
    holds: ({ report }) =>
      expect(report.ledger[0]).toMatchObject({ qos: 2, expected: 200, unique: 200 }),
  },
  'subscription-options': {
    holds: (outcome) =>
      // Each of four hears the three others.
      expect(counters(outcome, 'peers')).toMatchObject({ acked: 20, received: 60 }),
  },
  'last-will': {
    topics: 'gone',
    holds: (outcome) => {
      expect(counters(outcome, 'reader')['received']).toBe(5);
      const [first] = outcome.heard;
      if (first === undefined) throw new Error('nobody heard a will');
      expect(json(first)).toMatchObject({ reason: 'lost', device: expect.any(Number) });
      expect(first.packet.properties).toMatchObject({ contentType: 'application/json' });
    },
  },
};

const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length));

/** Everything beside the plans that is no plan: sent along with each of them. */
function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/\.(yaml|md)$/.test(name) && statSync(path.join(folder, name)).isFile(),
  );
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(path.join(folder, name)).toString('base64')]),
  );
}

/** Only what a plan declares may be set. */
function varsOf(text: string, values: Readonly<Record<string, string>>): Record<string, string> {
  const declared = /^vars: \{(.*)\}/m.exec(text)?.[1] ?? '';
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => new RegExp(`\\b${name}:`).test(declared)),
  );
}

/** @returns the id of the run. */
async function submit(
  service: TestService,
  name: string,
  { values, files }: { values: Record<string, string>; files: Record<string, string> },
): Promise<string> {
  const text = readFileSync(path.join(FOLDER, `${name}.yaml`), 'utf8');
  const { vars, scale, agents = 1 } = RECIPES[name] ?? {};
  const run = await service.post<{ id: string }>('/v1/runs', {
    text,
    vars: varsOf(text, { ...values, ...vars }),
    files,
    agents,
    ...(scale === undefined ? {} : { scale }),
  });
  return run.id;
}

test('every recipe stands in the index, and in none that is not there', () => {
  const index = readFileSync(path.join(FOLDER, 'README.md'), 'utf8');
  const linked = [...index.matchAll(/\]\(([\w.-]+)\.yaml\)/g)].map(([, name]) => name);
  expect(linked.toSorted()).toEqual(names.toSorted());
});

describe('recipes, each against a real broker', () => {
  const missing = securedBrokerMissing();
  const workspace = new Workspace();
  const heard = new Map<string, Heard[]>();
  const runs = new Map<string, string>();
  let brokers: Mosquitto[] = [];
  let secured: SecuredBroker | null = null;
  let scram: FaultBroker | null = null;
  const scramServer = new ScramServer((user) => user.replace('device', 'secret'));
  let service: TestService;
  let listener: MqttClient;

  beforeAll(async () => {
    if (missing !== null) return;
    brokers = await Promise.all([Mosquitto.start(), Mosquitto.start()]);
    secured = await SecuredBroker.start();
    scram = await scramServer.broker();
    const [broker = '', second = ''] = brokers.map(({ url }) => url);
    listener = await connectAsync(broker, { protocolVersion: 5 });
    listener.on('message', (topic, payload, packet) => {
      const level = topic.split('/')[0] ?? '';
      const list = heard.get(level) ?? [];
      if (list.length < MAX_HEARD) list.push({ topic, payload, packet });
      heard.set(level, list);
    });
    await listener.subscribeAsync('#', { qos: 1 });
    service = await TestService.start(workspace, {
      agents: Array.from({ length: AGENTS }, (_, k) => `agent-${k}`),
    });
    const identities = path.join(workspace.folder, 'identities');
    secured.giveAuthority(identities);
    secured.giveIdentities(identities, CERTIFICATES);
    const files = { ...filesIn(FOLDER), ...filesIn(identities) };
    const values = {
      broker,
      first: broker,
      second,
      // Nobody listens there.
      primary: `mqtt://127.0.0.1:${await freePort()}`,
      tls: `mqtts://127.0.0.1:${secured.ports.tls}`,
      strict: `mqtts://127.0.0.1:${secured.ports.strict}`,
      websocket: `wss://127.0.0.1:${secured.ports.wss}/mqtt`,
      scram: `mqtt://127.0.0.1:${scram.port}`,
      duration: '1s',
    };
    // The controller lets them wait for free agents, but reads only so many plans at a time.
    const waiting = [...names];
    const submitNext = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        runs.set(name, await submit(service, name, { values, files }));
      }
    };
    await Promise.all(Array.from({ length: SUBMITTERS }, submitNext));
  }, 240_000);

  afterAll(async () => {
    await listener?.endAsync(true);
    await service?.close();
    await Promise.all(brokers.map((broker) => broker.dispose()));
    await secured?.dispose();
    await scram?.close();
    workspace.dispose();
  });

  test.skipIf(missing !== null).each(names)('%s', async (name) => {
    const id = runs.get(name);
    const run = await service.json<{ state: string; verdict: string; reasons: string[] }>(
      `/v1/runs/${id}?wait=110s`,
    );
    expect(run, run.reasons.join('\n')).toMatchObject({ state: 'done', verdict: 'pass' });
    const report = await service.json<ReportJson>(`/v1/runs/${id}/report`);
    checkReport(report, report.exitCode);
    const { holds, topics = '' } = RECIPES[name] ?? {};
    holds?.({ report, heard: heard.get(topics) ?? [] });
  });
});
