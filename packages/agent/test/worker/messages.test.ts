import { deflateSync } from 'node:zlib';
import { crc32, STAMP_CORRUPT, STAMP_OK, StampReader } from '@squall/core/stamp';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MessageProperties, MqttTarget, Payload, PublishStream } from '@squall/core/plan';
import { clientOrder } from '../../src/worker/clients/client-order.ts';
import { PlanFiles } from '../../src/worker/plan-files.ts';
import { MessageSource } from '../../src/worker/publish/message-source.ts';
import { RenderContext } from '../../src/worker/publish/render-context.ts';
import { groupOf, planOf, streamOf } from './fixture/plan.ts';

const order = clientOrder({ first: 100, last: 102, clients: 3 }, 1000);

const ROWS = {
  first: 100,
  rows: [
    ['k-1', 'ann'],
    ['k-2', 'bob "b"'],
    ['k-3', 'eve'],
  ],
};

function sourceOf(parts: Partial<PublishStream>, target: Partial<MqttTarget> = {}) {
  const { broker } = planOf({ groups: [], stages: [] }).targets;
  if (broker?.protocol !== 'mqtt') throw new Error('no MQTT target');
  const context = new RenderContext({
    group: groupOf({
      name: 'g',
      clients: 1000,
      from: { file: 'g.csv', columns: ['key', 'name'], rows: 1000 },
    }),
    rows: ROWS,
    target: { ...broker, ...target },
    shortRun: 'r1',
    secrets: { KEY: 'secret' },
    vars: {},
    seed: 1,
  });
  const moment = new Float64Array([5_000]);
  const stamp = { runHash: 77, subject: 3, clockDomain: 9 };
  const files = new PlanFiles({
    'a.bin': Buffer.from('first').toString('base64'),
    'b.bin': Buffer.from('second').toString('base64'),
  });
  const source = new MessageSource({
    stream: streamOf(parts),
    order,
    context,
    files,
    stamp,
    moment,
  });
  const make = (position: number, seq = 0) => {
    const made = source.prepare({ position, stage: 2, seq }, new Float64Array([4_000]));
    const { topics, topic, payload, properties } = source.message;
    const start = topics.startOf(topic) + 2;
    return {
      made,
      payload,
      properties,
      topic: topics.bytes.toString('utf8', start, topics.startOf(topic + 1)),
    };
  };
  return { source, make };
}

const text = (value: string): { payload: Payload; verify: false } => {
  return { payload: { kind: 'template', template: value }, verify: false };
};

describe('messages', () => {
  test('carry a stamp with client, number, due and send time, valid for the whole payload', () => {
    const { make } = sourceOf({
      topic: 'd/{{n}}',
      payload: { kind: 'size', bytes: 64, fill: 'repeat' },
    });
    const reader = new StampReader();
    for (const position of [0, 1, 2]) {
      const { topic, payload } = make(position, position + 10);
      const number = order.numbers[position] ?? 0;
      expect(topic).toBe(`d/${number + 1}`);
      expect(reader.read(payload, 0, payload.length)).toBe(STAMP_OK);
      expect(reader).toMatchObject({ stage: 2, publisher: number, seq: position + 10, subject: 3 });
      expect([...reader.timesUs]).toEqual([4_000, 5_000]);
    }
  });

  test('without verification are bare bytes, the same in every run', () => {
    const { make } = sourceOf({
      payload: { kind: 'size', bytes: 64, fill: 'repeat' },
      verify: false,
    });
    const { payload } = make(0);
    expect(new StampReader().read(payload, 0, 64)).not.toBe(STAMP_OK);
    expect(crc32(payload, 0, 64)).toBe(crc32(make(2).payload, 0, 64));
    expect(new Set(payload).size).toBeGreaterThan(30);
  });

  test('render text once, once a client, or for each message, as their templates need', () => {
    const plain = sourceOf({ topic: 't', ...text('{{run}} {{group}} {{env.KEY}}') });
    expect(Buffer.from(plain.make(0).payload).toString()).toBe('r1 g secret');
    const perClient = sourceOf({ topic: 't', ...text('n={{n}}') });
    const number = (order.numbers[1] ?? 0) + 1;
    expect(Buffer.from(perClient.make(1).payload).toString()).toBe(`n=${number}`);
    expect(perClient.make(1).payload).toBe(perClient.make(1).payload);
    const perMessage = sourceOf({ topic: 't/{{seq}}', ...text('s={{seq}}') });
    expect(perMessage.make(0).topic).toBe('t/0');
    const second = perMessage.make(0);
    expect(second.topic).toBe('t/1');
    expect(Buffer.from(second.payload).toString()).toBe('s=1');
    expect(perMessage.make(1).topic).toBe('t/0');
  });

  test('know the place of their client among those of its address', () => {
    const urls = ['a', 'b', 'c'].map((host) => ({
      scheme: 'mqtt' as const,
      host,
      port: 1,
      path: '',
    }));
    const topics = (spread: MqttTarget['spread']) => {
      const { make } = sourceOf({ topic: '{{block.n}}/{{n}}' }, { urls, spread });
      return [0, 1, 2].map((position) => make(position).topic);
    };
    expect(new Set(topics('round-robin'))).toEqual(new Set(['34/101', '34/102', '35/103']));
    expect(new Set(topics('blocks'))).toEqual(new Set(['101/101', '102/102', '103/103']));
  });

  test('that cannot be made say why, and do not end the stream', () => {
    const { source, make } = sourceOf({
      topic: '{{random 0 1}}{{seq}}',
      ...text('{{csv.x}}{{seq}}'),
    });
    expect(make(0).made).toBe(false);
    expect(source.failure).toMatch(/column x/);
  });

  test('are sent as they are where they are given as a text', () => {
    const { make } = sourceOf({ payload: { kind: 'text', text: 'n={{n}}' }, verify: false });
    expect(show(make(0).payload)).toBe('n={{n}}');
  });

  test('to a topic that nobody may publish to are refused when they are prepared', () => {
    expect(() => sourceOf({ topic: 'a/#' })).toThrow(/MQTT-3.3.2-2/);
  });
});

const show = (payload: Uint8Array) => Buffer.from(payload).toString();
const plain = (payload: Payload) => sourceOf({ payload, verify: false });

describe('payloads', () => {
  test('made up at random are others in every message, and no compression shrinks them', () => {
    const { make } = sourceOf({ payload: { kind: 'size', bytes: 4_096, fill: 'random' } });
    const reader = new StampReader();
    const seen = new Set<number>();
    for (let seq = 0; seq < 20; seq++) {
      const { payload } = make(0, seq);
      expect(reader.read(payload, 0, payload.length)).toBe(STAMP_OK);
      expect(deflateSync(payload).length).toBeGreaterThan(4_000);
      seen.add(crc32(payload, 40, payload.length));
    }
    expect(seen.size).toBe(20);
  });

  test('made up to be compressible shrink to about a quarter', () => {
    const { make } = plain({ kind: 'size', bytes: 16_384, fill: 'compressible' });
    const ratio = deflateSync(make(0).payload).length / 16_384;
    expect(ratio).toBeGreaterThan(0.15);
    expect(ratio).toBeLessThan(0.35);
  });

  test('from files are their bytes, by turns where there are several', () => {
    expect(show(plain({ kind: 'file', file: 'a.bin' }).make(1).payload)).toBe('first');
    const { make } = plain({ kind: 'files', files: ['a.bin', 'b.bin'] });
    const seen = [0, 1, 2].map((seq) => show(make(0, seq).payload));
    expect(new Set(seen)).toEqual(new Set(['first', 'second']));
    expect(seen[0]).toBe(seen[2]);
    expect(show(make(1, 0).payload)).not.toBe(show(make(0, 0).payload));
  });

  test('as JSON hold the values of their client and message, escaped', () => {
    const template = '{"id":"{{csv.key}}","who":"{{csv.name}}","seq":{{seq}},"v":{{random 5 5}}}';
    const { make } = plain({ kind: 'json', template });
    const position = [...order.numbers].indexOf(101);
    expect(JSON.parse(show(make(position).payload))).toEqual({
      id: 'k-2',
      who: 'bob "b"',
      seq: 0,
      v: 5,
    });
    expect(JSON.parse(show(make(position).payload))).toMatchObject({ seq: 1 });
  });

  test('carry a stamp where the template says so, which covers all that stands around it', () => {
    const template = '{"seq":{{seq}},"s":"{{stamp}}","n":{{n}}}';
    const { make } = sourceOf({ payload: { kind: 'json', template }, verify: true });
    const reader = new StampReader();
    for (let seq = 0; seq < 12; seq++) {
      const payload = Buffer.from(make(1, seq).payload);
      expect(JSON.parse(show(payload))).toMatchObject({ seq, n: (order.numbers[1] ?? 0) + 1 });
      expect(reader.read(payload, 0, payload.length)).toBe(STAMP_OK);
      expect(reader).toMatchObject({ stage: 2, publisher: order.numbers[1], seq, subject: 3 });
      expect([...reader.timesUs]).toEqual([4_000, 5_000]);
      payload[1] = 0x27;
      expect(reader.read(payload, 0, payload.length)).toBe(STAMP_CORRUPT);
    }
  });

  test('of the same length are made in the same memory', () => {
    const { make } = plain({ kind: 'template', template: `{{seq:06}} ${'x'.repeat(1_000)}` });
    const first = make(0).payload;
    expect(show(first).slice(0, 7)).toBe('000000 ');
    expect(make(0).payload).toBe(first);
    expect(show(first).slice(0, 7)).toBe('000001 ');
  });

  test('are what a template gives, whatever grows and shrinks in it', () => {
    const expressions = [
      '{{seq}}',
      '{{n}}',
      '{{random -99999 99999}}',
      '{{csv.name}}',
      '-',
      'é{{seq:03}}',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...expressions), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(2), { minLength: 1, maxLength: 30 }),
        (parts, positions) => {
          const template = parts.join('|');
          const { make } = plain({ kind: 'template', template });
          const seqs = [0, 0, 0];
          for (const position of positions) {
            const n = order.numbers[position] ?? 0;
            const seq = seqs[position] ?? 0;
            seqs[position] = seq + 1;
            const expected = parts.map((part) =>
              part
                .replace('{{seq:03}}', String(seq).padStart(3, '0'))
                .replace('{{seq}}', String(seq))
                .replace('{{n}}', String(n + 1))
                .replace('{{csv.name}}', ROWS.rows[n - 100]?.[1] ?? ''),
            );
            const shown = show(make(position).payload).split('|');
            expect(shown).toHaveLength(parts.length);
            const numbers = shown.filter((_, k) => expected[k]?.includes('random'));
            expect(numbers.every((shownNumber) => Math.abs(Number(shownNumber)) < 1e5)).toBe(true);
            const others = (texts: readonly string[]) =>
              texts.filter((_, k) => !expected[k]?.includes('random'));
            expect(others(shown)).toEqual(others(expected));
          }
        },
      ),
    );
  });
});

describe('topics', () => {
  test('of a list come by turns, as often as their weights say', () => {
    const topic = [
      { template: 'a/{{n}}', weight: 3 },
      { template: 'b', weight: 1 },
    ];
    const { make, source } = sourceOf({ topic });
    const topics = [0, 1, 2, 3, 4, 5, 6, 7].map((seq) => make(0, seq).topic);
    const own = `a/${(order.numbers[0] ?? 0) + 1}`;
    expect(topics.filter((each) => each === own)).toHaveLength(6);
    expect(topics.filter((each) => each === 'b')).toHaveLength(2);
    expect(topics.slice(0, 4)).toEqual(topics.slice(4));
    expect(source.ownTopics).toBe(false);
  });

  test('of a list are rendered for each message where one of them changes with it', () => {
    const topic = [
      { template: 'a/{{seq}}', weight: 1 },
      { template: 'b', weight: 1 },
    ];
    const { make, source } = sourceOf({ topic });
    const topics = [0, 1, 2, 3].map((seq) => make(0, seq).topic);
    expect(new Set(topics.filter((each) => each !== 'b')).size).toBe(2);
    expect(source.ownTopics).toBe(true);
  });
});

function namedProperties(userValue: string): MessageProperties {
  return {
    contentType: 'text/plain',
    responseTopic: null,
    correlationData: null,
    payloadFormat: 1,
    userProperties: [{ name: 'who', value: userValue }],
  };
}

describe('properties', () => {
  test('are encoded once, once a client, or for each message', () => {
    const fixed = sourceOf({ properties: namedProperties('x'), expiryS: 7 });
    expect(fixed.make(0).properties).toBe(fixed.make(1).properties);
    expect(show(fixed.make(0).properties)).toContain('text/plain');
    const perClient = sourceOf({ properties: namedProperties('{{csv.key}}') });
    expect(perClient.make(0).properties).toBe(perClient.make(0).properties);
    expect(show(perClient.make(1).properties)).toContain(`k-${(order.numbers[1] ?? 0) - 99}`);
    const perMessage = sourceOf({ properties: namedProperties('s{{seq}}') });
    expect(show(perMessage.make(0).properties)).toContain('s0');
    expect(show(perMessage.make(0).properties)).toContain('s1');
  });
});
