import type { RespondSpec } from '@squall/core/plan';
import type { InboundPublish } from '@squall/mqtt';
import { describe, expect, test } from 'vitest';
import { groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';
import { VirtualRun } from './fixture/virtual-run.ts';

const REQUEST = { responseTopic: 'answer/{{n}}', qos: 1, timeoutUs: 2e6 } as const;
const asker = groupOf({
  name: 'app',
  clients: 3,
  publish: [
    streamOf({
      subject: 'app',
      topic: 'ask/{{n}}',
      request: REQUEST,
      pace: { kind: 'every', everyUs: 500e3 },
    }),
  ],
});

function responderOf(spec: Partial<RespondSpec> = {}) {
  const respond: RespondSpec = {
    name: null,
    subject: 'devices',
    topics: ['ask/{{n}}'],
    qos: 1,
    to: 'answer/{{n}}',
    payload: null,
    delayUs: 0,
    ...spec,
  };
  return groupOf({ name: 'devices', clients: 3, respond: [respond] });
}

function planFor(version: '3.1.1' | '5', spec: Partial<RespondSpec> = {}) {
  const plan = planOf({
    groups: [responderOf(spec), asker],
    stages: [
      { run: [{ group: 0, activities: [{ kind: 'respond', entry: 0 }] }] },
      { run: [{ group: 1, activities: [publishing(asker)] }], forUs: 2e6 },
    ],
  });
  const { broker } = plan.targets;
  if (broker === undefined) throw new Error('no target');
  return { ...plan, targets: { broker: { ...broker, version } } };
}

/** A PUBLISH as a broker delivers it; response topic and correlation data where given. */
function delivered(parts: {
  topic: string;
  payload: Uint8Array;
  responseTopic?: string;
  correlation?: Uint8Array;
}): InboundPublish {
  const topic = Buffer.from(parts.topic);
  const response = Buffer.from(parts.responseTopic ?? '');
  const correlation = Buffer.from(parts.correlation ?? []);
  const bytes = Buffer.concat([topic, Buffer.from(parts.payload), response, correlation]);
  const responseAt = topic.length + parts.payload.length;
  return {
    bytes,
    topicBytes: bytes,
    topicAt: 0,
    topicLength: topic.length,
    payloadAt: topic.length,
    payloadLength: parts.payload.length,
    qos: 1,
    dup: false,
    retain: false,
    packetId: 1,
    expiryS: -1,
    responseTopicAt: parts.responseTopic === undefined ? -1 : responseAt,
    responseTopicLength: response.length,
    correlationAt: parts.correlation === undefined ? -1 : responseAt + response.length,
    correlationLength: correlation.length,
    identifiers: new Uint32Array(0),
    identifierCount: 0,
  };
}

/** Both groups in one worker; what one publishes is delivered to the other by the test. */
class Conversation {
  readonly run: VirtualRun;
  #asked = 0;
  #answered = 0;

  constructor(plan: ReturnType<typeof planFor>) {
    this.run = new VirtualRun(plan);
    this.run.advance(0, 0);
    this.run.runTo(0.5e6);
    this.run.advance(1, 1e6);
    this.run.runTo(1.2e6);
    this.run.clock(1, 1.5e6);
  }

  count(metric: string, subject: string): number {
    return this.run.books.counter(metric, subject);
  }

  /** Hands new requests to the devices. */
  ask(change: (request: InboundPublish) => InboundPublish = (request) => request): number {
    const [devices, app] = this.run.clients;
    const fresh = app?.published.slice(this.#asked) ?? [];
    this.#asked += fresh.length;
    for (const { slot, topic, payload, properties } of fresh) {
      const parts = { topic, payload, ...propertiesOf(properties) };
      devices?.handlers.onPublish(slot, change(delivered(parts)));
    }
    return fresh.length;
  }

  /** Hands new answers to whoever asked; `to` says whom. */
  answer(to: (slot: number) => number = (slot) => slot): string[] {
    const [devices, app] = this.run.clients;
    const fresh = devices?.published.slice(this.#answered) ?? [];
    this.#answered += fresh.length;
    for (const { slot, topic, payload, properties } of fresh) {
      const { correlation } = propertiesOf(properties);
      const parts = { topic, payload, ...(correlation === undefined ? {} : { correlation }) };
      app?.handlers.onPublish(to(slot), delivered(parts));
    }
    return fresh.map(({ topic }) => topic);
  }
}

/** Response topic and correlation data of encoded properties that hold nothing else. */
function propertiesOf(properties: Buffer): { responseTopic?: string; correlation?: Buffer } {
  const found: { responseTopic?: string; correlation?: Buffer } = {};
  for (let at = 0; at < properties.length; ) {
    const length = properties.readUInt16BE(at + 1);
    const value = properties.subarray(at + 3, at + 3 + length);
    if (properties[at] === 0x08) found.responseTopic = value.toString();
    else found.correlation = value;
    at += 3 + length;
  }
  return found;
}

describe.each(['3.1.1', '5'] as const)('requests and answers of MQTT %s', (version) => {
  const spec = version === '5' ? { to: null } : {};

  test('find each other, are timed, and are no part of what is received', () => {
    const scene = new Conversation(planFor(version, spec));
    expect(scene.run.clients.map(({ subscribed }) => subscribed.length)).toEqual([3, 3]);
    let asked = 0;
    for (let us = 1.6e6; us < 4e6; us += 0.1e6) {
      scene.run.runTo(us);
      asked += scene.ask();
      scene.run.runTo(us + 50e3);
      for (const topic of scene.answer()) expect(topic).toMatch(/^answer\/[123]$/);
    }
    scene.run.load.engine.finish();
    expect(asked).toBe(12);
    expect(scene.count('planned', 'app')).toBe(12);
    expect(scene.count('responses', 'app')).toBe(12);
    expect(scene.count('request_failed', 'app')).toBe(0);
    expect(scene.count('sent', 'devices')).toBe(12);
    expect(scene.count('received', 'app') + scene.count('received', 'devices')).toBe(0);
    const times = scene.run.books.time('response_time', 'app');
    expect(times.count).toBe(12);
    expect(times.minUs).toBeGreaterThanOrEqual(50e3);
    expect(scene.run.books.imbalances('app', { qos: 1 })).toEqual([]);
  });

  test('without an answer fail after their time-out, and an answer after it is late', () => {
    const scene = new Conversation(planFor(version, spec));
    scene.run.runTo(4.2e6);
    expect(scene.ask()).toBe(12);
    scene.run.runTo(4.4e6);
    scene.answer();
    scene.run.runTo(9e6);
    scene.run.load.engine.finish();
    const late = scene.count('late_responses', 'app');
    expect(late).toBeGreaterThanOrEqual(6);
    expect(scene.count('responses', 'app') + scene.count('request_failed', 'app')).toBe(12);
    expect(scene.count('request_failed', 'app')).toBe(late);
    expect(scene.run.states).toContain('1 drained');
  });

  test('of somebody else by a shared topic are nobody’s, and a second answer is a stray one', () => {
    const scene = new Conversation(planFor(version, spec));
    scene.run.runTo(1.9e6);
    scene.ask();
    scene.run.runTo(2e6);
    scene.answer((slot) => (slot + 1) % 3);
    scene.run.runTo(2.1e6);
    expect(scene.count('responses', 'app')).toBe(0);
    const stray = delivered({ topic: 'answer/1', payload: Buffer.from('no answer at all') });
    scene.run.clients[1]?.handlers.onPublish(0, stray);
    scene.run.load.engine.finish();
    expect(scene.count('stray_responses', 'app')).toBe(1);
  });
});

test('a stamp in text goes back as well as one in bytes', () => {
  const payload = { kind: 'json', template: '{"id":"{{stamp}}"}' } as const;
  const [stream] = asker.publish;
  const plan = planFor('3.1.1');
  const [devices] = plan.groups;
  if (stream === undefined || devices === undefined) throw new Error('no stream');
  const scene = new Conversation({
    ...plan,
    groups: [devices, { ...asker, publish: [{ ...stream, payload }] }],
  });
  scene.run.runTo(1.6e6);
  const asked = scene.ask();
  scene.answer();
  scene.run.load.engine.finish();
  expect(asked).toBeGreaterThan(0);
  expect(scene.count('responses', 'app')).toBe(asked);
});

describe('answers', () => {
  test('come after the time that a client thinks', () => {
    const scene = new Conversation(planFor('3.1.1', { delayUs: 300e3 }));
    scene.run.runTo(1.6e6);
    const asked = scene.ask();
    scene.run.runTo(1.85e6);
    expect(scene.answer()).toHaveLength(0);
    scene.run.runTo(1.95e6);
    expect(scene.answer()).toHaveLength(asked);
  });

  test('need a topic: a request without one is counted', () => {
    const scene = new Conversation(planFor('5', { to: null }));
    scene.run.runTo(1.6e6);
    const asked = scene.ask((request) => ({ ...request, responseTopicAt: -1 }));
    scene.run.runTo(1.7e6);
    scene.run.load.engine.finish();
    expect(scene.run.books.reasons('answer_failed', 'devices')).toEqual({
      'the request names no response topic': asked,
    });
    expect(scene.count('scheduled', 'devices')).toBe(0);
  });

  test('take the payload of the plan, and the correlation data of the request', () => {
    const payload = { kind: 'text', text: 'ok' } as const;
    const scene = new Conversation(planFor('5', { to: null, payload }));
    scene.run.runTo(1.6e6);
    const asked = scene.ask();
    scene.run.runTo(1.7e6);
    const answers = scene.run.clients[0]?.published ?? [];
    expect(answers.map((each) => each.payload.toString())).toEqual(Array(asked).fill('ok'));
    scene.answer();
    scene.run.load.engine.finish();
    expect(scene.count('responses', 'app')).toBe(asked);
  });

  test('go on when the load is over, as long as somebody may ask', () => {
    const scene = new Conversation(planFor('3.1.1'));
    scene.run.runTo(3.6e6);
    scene.ask();
    scene.answer();
    scene.run.runTo(6e6);
    scene.answer();
    scene.run.runTo(12e6);
    const before = scene.run.clients[0]?.published.length ?? 0;
    const app = scene.run.clients[1]?.published[0];
    const again = delivered({ topic: 'ask/1', payload: app?.payload ?? Buffer.alloc(0) });
    scene.run.clients[0]?.handlers.onPublish(0, again);
    scene.run.runTo(12.1e6);
    expect(scene.run.clients[0]?.published).toHaveLength(before + 1);
    expect(scene.run.states).toContain('1 drained');
  });
});
