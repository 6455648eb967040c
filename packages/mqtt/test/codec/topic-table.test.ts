import { describe, expect, test } from 'vitest';
import { TopicTable } from '../../src/index.ts';

describe('topic table', () => {
  test('keeps many topics as they go on the wire', () => {
    const table = new TopicTable();
    const topics = Array.from({ length: 5_000 }, (_, n) => `gerät/${n}/up`);
    expect(topics.map((topic) => table.add(topic))).toEqual(topics.map((_, n) => n));
    for (const [n, topic] of topics.entries()) {
      const at = table.startOf(n);
      const length = table.bytes.readUInt16BE(at);
      expect(table.startOf(n + 1)).toBe(at + 2 + length);
      expect(table.bytes.toString('utf8', at + 2, at + 2 + length)).toBe(topic);
    }
    expect(table.count).toBe(5_000);
  });

  test('starts over after clear', () => {
    const table = new TopicTable();
    table.add('a');
    table.clear();
    expect(table.add('bc')).toBe(0);
    expect(table.bytes.toString('utf8', 2, 4)).toBe('bc');
  });

  test.each(['', 'a/#', '+/b', 'a\0', 'x'.repeat(65_536)])('refuses a topic %#', (topic) => {
    expect(() => new TopicTable().add(topic)).toThrow(RangeError);
  });
});

test('a topic in bytes becomes the only one, unless nobody may publish to it', () => {
  const table = new TopicTable();
  table.add('one');
  const bytes = Buffer.from('…antwort/ä/1…');
  const topic = Buffer.from('antwort/ä/1');
  const at = bytes.indexOf(topic);
  expect(table.replace(bytes, at, topic.length)).toBe(true);
  expect(table.count).toBe(1);
  expect(table.text(0)).toBe('antwort/ä/1');
  expect(table.isVolatile).toBe(true);
  for (const wrong of ['', 'a/#', 'a/+/b', 'a\0b']) {
    expect(table.replace(Buffer.from(wrong), 0, Buffer.byteLength(wrong))).toBe(false);
  }
  expect(table.text(0)).toBe('antwort/ä/1');
  const long = Buffer.alloc(5_000, 'x');
  expect(table.replace(long, 0, long.length)).toBe(true);
  expect(table.text(0)).toHaveLength(5_000);
});
