import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectAsync, type IPublishPacket, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { checkReport, type ReportJson } from '../fixtures/report-laws.ts';
import { TestService } from '../fixtures/service.ts';
import { Workspace } from '../fixtures/squall.ts';

const FOLDER = fileURLToPath(new URL('../../plans/recipes', import.meta.url));
/** Runs that go on at a time: they mostly wait for announced moments. */
const AGENTS = 6;
/** Messages of one recipe that are looked at. */
const MAX_HEARD = 5_000;

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
  /** First level of its topics, where messages are looked at. */
  readonly topics?: string;
  /** Beyond the verdict `pass`. */
  readonly holds?: (outcome: Outcome) => void;
}

const counters = ({ report }: Outcome, group: string) => report.groups[group]?.counters ?? {};
const json = ({ payload }: Heard): unknown => JSON.parse(payload.toString());

/** What is true of a recipe besides its own thresholds. A recipe without an entry runs as it is. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  'devices-from-csv': {
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
  'connections-only': { vars: { clients: '50' } },
  'message-count': {
    vars: { messages: '200' },
    holds: (outcome) => expect(counters(outcome, 'devices')).toMatchObject({ acked: 200 }),
  },
  // 50 a second, but 1,000 a second for 300 ms; then 50 a second again.
  spike: {
    vars: { at: '300ms', length: '300ms' },
    holds: (outcome) => expect(counters(outcome, 'devices')['planned']).toBe(335 + 50),
  },
  steps: { vars: { step: '300ms' } },
  'reconnect-storm': { vars: { duration: '3s' } },
  takeover: { vars: { duration: '2s' } },
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
function filesBeside(): Record<string, string> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.endsWith('.yaml') && statSync(path.join(FOLDER, name)).isFile(),
  );
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(path.join(FOLDER, name)).toString('base64')]),
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
  const { vars, scale } = RECIPES[name] ?? {};
  const run = await service.post<{ id: string }>('/v1/runs', {
    text,
    vars: varsOf(text, { ...values, ...vars }),
    files,
    agents: 1,
    ...(scale === undefined ? {} : { scale }),
  });
  return run.id;
}

describe('recipes, each against a real broker', () => {
  const missing = mosquittoMissing();
  const workspace = new Workspace();
  const heard = new Map<string, Heard[]>();
  const runs = new Map<string, string>();
  let brokers: Mosquitto[] = [];
  let service: TestService;
  let listener: MqttClient;

  beforeAll(async () => {
    if (missing !== null) return;
    brokers = await Promise.all([Mosquitto.start(), Mosquitto.start()]);
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
    const files = filesBeside();
    const values = { broker, first: broker, second, duration: '1s' };
    // All at once: the controller lets them wait for free agents.
    await Promise.all(
      names.map(async (name) => runs.set(name, await submit(service, name, { values, files }))),
    );
  }, 240_000);

  afterAll(async () => {
    await listener?.endAsync(true);
    await service?.close();
    await Promise.all(brokers.map((broker) => broker.dispose()));
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
