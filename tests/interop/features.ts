import { expect } from 'vitest';
import type { LedgerRowJson, ReportJson } from '../fixtures/report-laws.ts';
import { type Feature, type Outcome, type Peer, prefixOf, type Version } from './feature.ts';

const ALL: readonly Version[] = ['3.1', '3.1.1', '5'];
const V5: readonly Version[] = ['5'];

const target = 'broker';
const payload = '100B';
/** Messages of a stream over its group. */
const COUNT = 40;
const CLIENTS = 4;

/** What a counter of a group counted in the whole run. */
function counted(report: ReportJson, group: string, metric: string): number {
  return report.groups[group]?.counters[metric] ?? 0;
}

function ledgerRow(report: ReportJson, to: string): LedgerRowJson {
  const row = report.ledger.find((each) => each.to === to || each.to.startsWith(`${to}.`));
  if (row === undefined) throw new Error(`no row of the ledger goes to ${to}`);
  return row;
}

/** Publishing from Squall, seen by the library, exactly once where that is promised. */
function publishing(qos: 0 | 1 | 2): Feature {
  const id = `publish-qos${qos}`;
  return {
    id,
    title: `publish at QoS ${qos}`,
    versions: ALL,
    groups: () => ({
      [id]: {
        target,
        clients: CLIENTS,
        publish: { topic: `${prefixOf(id)}/{{n}}`, qos, payload, rate: '100/s', count: COUNT },
      },
    }),
    phases: { prepare: { [id]: 'connect' }, load: { [id]: 'publish' } },
    check: ({ report, peer }) => {
      expect(counted(report, id, 'published')).toBe(COUNT);
      expect(peer.packets).toHaveLength(COUNT);
      expect(new Set(peer.packets.map((packet) => packet.qos))).toEqual(new Set([qos]));
    },
  };
}

/** Receiving what the library sends, with the acknowledgements of its QoS. */
function receiving(qos: 0 | 1 | 2): Feature {
  const id = `receive-qos${qos}`;
  return {
    id,
    title: `receive at QoS ${qos}`,
    versions: ALL,
    groups: () => ({
      [id]: { target, clients: 1, subscribe: { topic: `${prefixOf(id)}/+`, qos } },
    }),
    phases: { prepare: { [id]: 'subscribe' } },
    duringLoad: (peer) => publishAll(peer, id, qos),
    check: ({ report, peer }) => {
      expect(peer.packets).toHaveLength(COUNT);
      expect(counted(report, id, 'received')).toBe(COUNT);
    },
  };
}

async function publishAll(peer: Peer, id: string, qos: 0 | 1 | 2): Promise<void> {
  for (let n = 0; n < COUNT; n++) {
    await peer.client.publishAsync(`${prefixOf(id)}/${n % 3}`, `message ${n}`, { qos });
  }
}

/** Squall on both ends: the ledger has the last word. */
function delivering(qos: 1 | 2): Feature {
  const id = `ledger-qos${qos}`;
  const [senders, readers] = [`${id}-senders`, `${id}-readers`];
  return {
    id,
    title: `every message once, by the ledger, at QoS ${qos}`,
    versions: ALL,
    groups: () => ({
      [readers]: { target, clients: 2, subscribe: { topic: `${prefixOf(id)}/+`, qos } },
      [senders]: {
        target,
        clients: CLIENTS,
        publish: { topic: `${prefixOf(id)}/{{n}}`, qos, payload, rate: '100/s', count: COUNT },
      },
    }),
    phases: {
      prepare: { [readers]: 'subscribe', [senders]: 'connect' },
      load: { [senders]: 'publish' },
    },
    check: ({ report, peer }) => {
      expect(ledgerRow(report, readers)).toMatchObject({
        expected: 2 * COUNT,
        lost: 0,
        duplicated: 0,
        corrupted: 0,
      });
      expect(peer.packets).toHaveLength(COUNT);
    },
  };
}

const RETAINED: Feature = {
  id: 'retained',
  title: 'retained messages, both ways',
  versions: ALL,
  groups: () => ({
    'retained-out': {
      target,
      clients: 1,
      publish: {
        topic: `${prefixOf('retained')}/out`,
        qos: 1,
        retain: true,
        payload,
        rate: '10/s',
        count: 1,
      },
    },
    'retained-in': {
      target,
      clients: 1,
      subscribe: { topic: `${prefixOf('retained')}/in`, qos: 1 },
    },
  }),
  phases: {
    prepare: { 'retained-in': 'subscribe', 'retained-out': 'connect' },
    load: { 'retained-out': 'publish' },
  },
  before: async ({ client }) => {
    await client.publishAsync(`${prefixOf('retained')}/in`, 'kept', { qos: 1, retain: true });
  },
  check: async ({ report, peer }) => {
    expect(counted(report, 'retained-in', 'received')).toBe(1);
    const topic = `${prefixOf('retained')}/out`;
    const again = new Promise<boolean>((resolve) => {
      peer.client.on('message', (at, _payload, packet) => {
        if (at === topic && packet.retain) resolve(true);
      });
      setTimeout(() => resolve(false), 2_000);
    });
    await peer.client.unsubscribeAsync(`${prefixOf('retained')}/#`);
    await peer.client.subscribeAsync(topic, { qos: 1 });
    expect(await again).toBe(true);
    for (const end of ['in', 'out']) {
      const empty = { qos: 1, retain: true } as const;
      await peer.client.publishAsync(`${prefixOf('retained')}/${end}`, '', empty);
    }
  },
};

const WILL: Feature = {
  id: 'will',
  title: 'wills of clients that are lost',
  versions: ALL,
  groups: () => ({
    will: {
      target,
      clients: CLIENTS,
      connect: { will: { topic: `${prefixOf('will')}/{{n}}`, payload: { text: 'gone' }, qos: 1 } },
    },
  }),
  phases: {
    prepare: { will: 'connect' },
    change: { will: { disconnect: { by: 'reset', rate: 'max' } } },
  },
  check: ({ peer }) => {
    const topics = peer.packets.map((packet) => packet.topic).toSorted();
    expect(topics).toEqual([1, 2, 3, 4].map((n) => `${prefixOf('will')}/${n}`));
  },
};

const SHARED: Feature = {
  id: 'shared',
  title: 'shared subscriptions: each message to one member',
  versions: ['3.1.1', '5'],
  groups: () => ({
    'shared-members': {
      target,
      clients: 3,
      subscribe: { topic: `${prefixOf('shared')}/+`, share: 'team', qos: 1 },
    },
    'shared-senders': {
      target,
      clients: CLIENTS,
      publish: {
        topic: `${prefixOf('shared')}/{{n}}`,
        qos: 1,
        payload,
        rate: '100/s',
        count: COUNT,
      },
    },
  }),
  phases: {
    prepare: { 'shared-members': 'subscribe', 'shared-senders': 'connect' },
    load: { 'shared-senders': 'publish' },
  },
  check: ({ report }) => {
    expect(counted(report, 'shared-members', 'received')).toBe(COUNT);
    expect(ledgerRow(report, 'shared-members')).toMatchObject({
      expected: COUNT,
      lost: 0,
      duplicated: 0,
    });
  },
};

const NO_LOCAL: Feature = {
  id: 'no-local',
  title: 'no-local: own messages do not come back',
  versions: V5,
  groups: () => ({
    'no-local': {
      target,
      clients: 2,
      subscribe: { topic: `${prefixOf('no-local')}/+`, qos: 1, options: { noLocal: true } },
      publish: {
        topic: `${prefixOf('no-local')}/{{n}}`,
        qos: 1,
        payload,
        rate: '100/s',
        count: COUNT,
      },
    },
  }),
  phases: { prepare: { 'no-local': 'subscribe' }, load: { 'no-local': 'publish' } },
  check: ({ report, peer }) => {
    // Each of the two gets what the other one sent.
    expect(peer.packets).toHaveLength(COUNT);
    expect(counted(report, 'no-local', 'received')).toBe(COUNT);
    expect(ledgerRow(report, 'no-local')).toMatchObject({
      expected: COUNT,
      lost: 0,
      duplicated: 0,
    });
  },
};

const RETAIN_HANDLING: Feature = {
  id: 'retain-handling',
  title: 'retain handling 2: no retained messages on subscribing',
  versions: V5,
  groups: () => ({
    'retain-handling': {
      target,
      clients: 1,
      subscribe: {
        topic: `${prefixOf('retain-handling')}/kept`,
        qos: 1,
        options: { retainHandling: 2, retainAsPublished: true },
      },
    },
  }),
  phases: { prepare: { 'retain-handling': 'subscribe' } },
  before: async ({ client }) => {
    const kept = { qos: 1, retain: true } as const;
    await client.publishAsync(`${prefixOf('retain-handling')}/kept`, 'old', kept);
  },
  check: async ({ report, peer }) => {
    expect(counted(report, 'retain-handling', 'received')).toBe(0);
    const empty = { qos: 1, retain: true } as const;
    await peer.client.publishAsync(`${prefixOf('retain-handling')}/kept`, '', empty);
  },
};

const PROPERTIES: Feature = {
  id: 'properties',
  title: 'message properties: user properties, content type, response topic, expiry, …',
  versions: V5,
  groups: () => ({
    properties: {
      target,
      clients: 1,
      publish: {
        topic: `${prefixOf('properties')}/a`,
        qos: 1,
        payload,
        rate: '10/s',
        count: 2,
        expiry: '60s',
        properties: {
          contentType: 'application/octet-stream',
          responseTopic: 'answers/{{n}}',
          correlationData: 'c-{{seq}}',
          userProperties: { fleet: 'north-{{n}}' },
        },
      },
    },
  }),
  phases: { prepare: { properties: 'connect' }, load: { properties: 'publish' } },
  check: ({ peer }) => {
    expect(peer.packets).toHaveLength(2);
    for (const [index, packet] of peer.packets.entries()) {
      expect(packet.properties).toMatchObject({
        contentType: 'application/octet-stream',
        responseTopic: 'answers/1',
        userProperties: { fleet: 'north-1' },
      });
      expect(packet.properties?.correlationData?.toString()).toBe(`c-${index}`);
      expect(packet.properties?.messageExpiryInterval).toBeGreaterThan(50);
    }
  },
};

const TOPIC_ALIAS: Feature = {
  id: 'topic-alias',
  title: 'topic aliases of publishers',
  versions: V5,
  groups: () => ({
    'topic-alias': {
      target,
      clients: 1,
      publish: {
        topic: [`${prefixOf('topic-alias')}/a`, `${prefixOf('topic-alias')}/b`],
        topicAlias: 2,
        qos: 1,
        payload,
        rate: '100/s',
        count: COUNT,
      },
    },
  }),
  phases: { prepare: { 'topic-alias': 'connect' }, load: { 'topic-alias': 'publish' } },
  check: ({ peer }) => {
    const of = (topic: string) =>
      peer.packets.filter((packet) => packet.topic === `${prefixOf('topic-alias')}/${topic}`);
    expect([of('a').length, of('b').length]).toEqual([COUNT / 2, COUNT / 2]);
  },
};

const SESSION: Feature = {
  id: 'session',
  title: 'kept sessions: what was queued in sleep comes on waking',
  versions: ALL,
  groups: () => ({
    'session-sleepers': {
      target,
      clients: 2,
      clientId: 'sleeper-{{n}}',
      connect: { cleanStart: false },
      subscribe: { topic: `${prefixOf('session')}/+`, qos: 1 },
    },
    'session-senders': {
      target,
      clients: CLIENTS,
      publish: {
        topic: `${prefixOf('session')}/{{n}}`,
        qos: 1,
        payload,
        rate: '100/s',
        count: COUNT,
      },
    },
  }),
  phases: {
    prepare: { 'session-sleepers': 'subscribe', 'session-senders': 'connect' },
    change: { 'session-sleepers': 'sleep' },
    reload: { 'session-senders': 'publish' },
    wake: { 'session-sleepers': 'wake' },
  },
  check: ({ report, peer }) => {
    expect(peer.packets).toHaveLength(COUNT);
    expect(counted(report, 'session-sleepers', 'received')).toBe(2 * COUNT);
    expect(ledgerRow(report, 'session-sleepers')).toMatchObject({ lost: 0, duplicated: 0 });
  },
};

const REQUEST: Feature = {
  id: 'request',
  title: 'request and response, round trip measured',
  versions: ['3.1.1', '5'],
  groups: (version) => ({
    'request-devices': {
      target,
      clients: 2,
      respond: {
        topic: `${prefixOf('request')}/command/{{n}}`,
        qos: 1,
        ...(version === '5' ? {} : { to: `${prefixOf('request')}/answer/{{n}}` }),
      },
    },
    'request-askers': {
      target,
      clients: 2,
      publish: {
        topic: `${prefixOf('request')}/command/{{n}}`,
        qos: 1,
        payload,
        rate: '50/s',
        count: COUNT,
        request: { responseTopic: `${prefixOf('request')}/answer/{{n}}`, qos: 1 },
      },
    },
  }),
  phases: {
    prepare: { 'request-devices': 'respond', 'request-askers': 'connect' },
    load: { 'request-askers': 'publish' },
  },
  check: ({ report }) => {
    const times = report.groups['request-askers']?.times['response_time'];
    expect(times?.count).toBe(COUNT);
  },
};

const TAKEOVER: Feature = {
  id: 'takeover',
  title: 'takeover: a second connection by the same client id ends the first one',
  versions: ALL,
  groups: () => ({ takeover: { target, clients: 2 } }),
  phases: { prepare: { takeover: 'connect' }, change: { takeover: 'takeover' } },
  check: ({ report }) => {
    expect(counted(report, 'takeover', 'takeovers')).toBe(2);
    expect(counted(report, 'takeover', 'taken_over')).toBe(2);
    expect(counted(report, 'takeover', 'takeover_failed')).toBe(0);
  },
};

const UNSUBSCRIBE: Feature = {
  id: 'unsubscribe',
  title: 'unsubscribing: nothing comes afterwards',
  versions: ALL,
  groups: () => ({
    'unsubscribe-readers': {
      target,
      clients: 2,
      subscribe: { topic: `${prefixOf('unsubscribe')}/+`, qos: 1 },
    },
    'unsubscribe-senders': {
      target,
      clients: 1,
      publish: {
        topic: `${prefixOf('unsubscribe')}/a`,
        qos: 1,
        payload,
        rate: '100/s',
        count: COUNT,
      },
    },
  }),
  phases: {
    prepare: { 'unsubscribe-readers': 'subscribe', 'unsubscribe-senders': 'connect' },
    load: { 'unsubscribe-senders': 'publish' },
    change: { 'unsubscribe-readers': 'unsubscribe' },
    reload: { 'unsubscribe-senders': 'publish' },
  },
  check: ({ report, peer }) => {
    expect(peer.packets).toHaveLength(2 * COUNT);
    expect(counted(report, 'unsubscribe-readers', 'received')).toBe(2 * COUNT);
  },
};

const WEB_SOCKET: Feature = {
  id: 'web-socket',
  title: 'over WebSocket',
  versions: ['3.1.1', '5'],
  groups: () => ({
    'web-socket': {
      target: 'web-socket',
      clients: CLIENTS,
      publish: {
        topic: `${prefixOf('web-socket')}/{{n}}`,
        qos: 1,
        payload,
        rate: '100/s',
        count: COUNT,
      },
    },
  }),
  phases: { prepare: { 'web-socket': 'connect' }, load: { 'web-socket': 'publish' } },
  check: ({ report, peer }: Outcome) => {
    expect(counted(report, 'web-socket', 'published')).toBe(COUNT);
    expect(peer.packets).toHaveLength(COUNT);
  },
};

const IDENTIFIERS: Feature = {
  id: 'identifiers',
  title: 'subscription identifiers: overlapping subscriptions told apart',
  versions: V5,
  groups: () => ({
    'identifiers-readers': {
      target,
      clients: 1,
      subscribe: [
        {
          name: 'all',
          topic: `${prefixOf('identifiers')}/#`,
          options: { identifier: 7 },
        },
        {
          name: 'first',
          topic: `${prefixOf('identifiers')}/1`,
          options: { identifier: 8 },
        },
      ],
    },
    'identifiers-senders': {
      target,
      clients: CLIENTS,
      publish: {
        topic: `${prefixOf('identifiers')}/{{n}}`,
        qos: 1,
        payload,
        rate: '100/s',
        count: COUNT,
      },
    },
  }),
  phases: {
    prepare: { 'identifiers-readers': 'subscribe', 'identifiers-senders': 'connect' },
    load: { 'identifiers-senders': 'publish' },
  },
  check: ({ report }) => {
    expect(ledgerRow(report, 'identifiers-readers.all')).toMatchObject({
      expected: COUNT,
      lost: 0,
    });
    expect(ledgerRow(report, 'identifiers-readers.first')).toMatchObject({
      expected: COUNT / CLIENTS,
      lost: 0,
    });
  },
};

const RECEIVE_MAXIMUM: Feature = {
  id: 'receive-maximum',
  title: 'receive maximum 1: one unacknowledged message at a time, and all of them',
  versions: V5,
  groups: () => ({
    'receive-maximum': {
      target,
      clients: 1,
      connect: { properties: { receiveMaximum: 1 } },
      subscribe: { topic: `${prefixOf('receive-maximum')}/+`, qos: 2 },
    },
  }),
  phases: { prepare: { 'receive-maximum': 'subscribe' } },
  duringLoad: (peer) => publishAll(peer, 'receive-maximum', 2),
  check: ({ report }) => {
    expect(counted(report, 'receive-maximum', 'received')).toBe(COUNT);
    // More than one at a time would have closed the connection [MQTT-3.3.4-9].
    expect(counted(report, 'receive-maximum', 'disconnected')).toBe(0);
    expect(counted(report, 'receive-maximum', 'protocol_errors')).toBe(0);
  },
};

/** In the order of the table. */
export const FEATURES: readonly Feature[] = [
  publishing(0),
  publishing(1),
  publishing(2),
  receiving(0),
  receiving(1),
  receiving(2),
  delivering(1),
  delivering(2),
  RETAINED,
  WILL,
  SESSION,
  TAKEOVER,
  UNSUBSCRIBE,
  WEB_SOCKET,
  SHARED,
  REQUEST,
  NO_LOCAL,
  RETAIN_HANDLING,
  PROPERTIES,
  TOPIC_ALIAS,
  IDENTIFIERS,
  RECEIVE_MAXIMUM,
];
