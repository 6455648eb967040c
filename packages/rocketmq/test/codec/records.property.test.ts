import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crcMatches, decodeRecords, RecordReader } from '../../src/codec/index.ts';
import { recordOf } from '../../src/testing/index.ts';

describe('stored messages', () => {
  test('of every layout are read as they were written', () => {
    const fields = fc.record({
      queueOffset: fc.nat(2 ** 40),
      body: fc.string({ maxLength: 300, unit: 'grapheme' }),
      topic: fc.stringMatching(/^[\w-]{1,100}$/),
      queueId: fc.nat(1023),
      storedAtMs: fc.nat(2e12),
      ipv6: fc.boolean(),
      longTopic: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 5 }), (all) => {
        const messages = decodeRecords(Buffer.concat(all.map(recordOf)));
        expect(
          messages.map(({ topic, body, queueId, queueOffset, storedAtMs, reconsumeTimes }) => {
            return {
              topic,
              body: body.toString(),
              queueId,
              queueOffset,
              storedAtMs,
              reconsumeTimes,
            };
          }),
        ).toEqual(
          all.map(({ topic, body, queueId, queueOffset, storedAtMs }) => {
            return { topic, body, queueId, queueOffset, storedAtMs, reconsumeTimes: 0 };
          }),
        );
      }),
    );
  });

  test('no cut and no changed byte makes the reader leave its record', () => {
    const record = recordOf({ queueOffset: 3, properties: { TAGS: 'a', KEYS: 'k' } });
    const reader = new RecordReader();
    for (let end = 0; end < record.length; end += 1) {
      expect(reader.read(record, 0, end)).toBe(-1);
    }
    for (let at = 0; at < record.length; at += 1) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const damaged = Buffer.from(record);
        damaged[at] = value;
        const next = reader.read(damaged, 0, damaged.length);
        const inside = [reader.bodyEnd, reader.topicEnd, reader.propertiesEnd];
        expect(next === -1 || inside.every((place) => place <= record.length)).toBe(true);
      }
    }
    expect(reader.read(record, 0, record.length)).toBe(record.length);
    expect(crcMatches(reader)).toBe(true);
  });
});
