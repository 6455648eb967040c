import { crc32, STAMP_OK, StampReader } from '@squall/core/stamp';
import { describe, expect, test } from 'vitest';
import type { MqttTarget, Payload, PublishStream } from '@squall/core/plan';
import { clientOrder } from '../../src/worker/clients/client-order.ts';
import { MessageSource } from '../../src/worker/publish/message-source.ts';
import { RenderContext } from '../../src/worker/publish/render-context.ts';
import { groupOf, planOf, streamOf } from './fixture/plan.ts';

const order = clientOrder({ first: 100, last: 102, clients: 3 }, 1000);

function sourceOf(parts: Partial<PublishStream>, target: Partial<MqttTarget> = {}) {
  const { broker } = planOf({ groups: [], stages: [] }).targets;
  if (broker === undefined) throw new Error('no target');
  const context = new RenderContext({
    group: groupOf({ name: 'g', clients: 1000 }),
    target: { ...broker, ...target },
    shortRun: 'r1',
    secrets: { KEY: 'secret' },
    vars: {},
    seed: 1,
  });
  const moment = new Float64Array([5_000]);
  const stamp = { runHash: 77, subject: 3, clockDomain: 9 };
  const source = new MessageSource({ stream: streamOf(parts), order, context, stamp, moment });
  const make = (position: number, seq = 0) => {
    const made = source.prepare({ position, stage: 2, seq }, new Float64Array([4_000]));
    const { topics, topic, payload } = source.message;
    const start = topics.startOf(topic) + 2;
    return {
      made,
      payload,
      topic: topics.bytes.toString('utf8', start, topics.startOf(topic + 1)),
    };
  };
  return { source, make };
}

const text = (value: string): { payload: Payload; verify: false } => {
  return { payload: { kind: 'text', text: value }, verify: false };
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
      return [0, 1, 2].map((position) => make(position).topic).toSorted();
    };
    expect(topics('round-robin')).toEqual(['34/101', '34/102', '35/103']);
    expect(topics('blocks')).toEqual(['101/101', '102/102', '103/103']);
  });

  test('that cannot be made say why, and do not end the stream', () => {
    const { source, make } = sourceOf({
      topic: '{{random 0 1}}{{seq}}',
      ...text('{{csv.x}}{{seq}}'),
    });
    expect(make(0).made).toBe(false);
    expect(source.failure).toMatch(/column x/);
  });

  test('to a topic that nobody may publish to are refused when they are prepared', () => {
    expect(() => sourceOf({ topic: 'a/#' })).toThrow(/MQTT-3.3.2-2/);
  });
});
