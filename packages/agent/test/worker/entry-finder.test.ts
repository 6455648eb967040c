import type { InboundPublish } from '@squall/mqtt';
import { expect, test } from 'vitest';
import { EntryFinder } from '../../src/worker/clients/entry-finder.ts';

function publish(topic: string, identifiers: readonly number[] = []): InboundPublish {
  const bytes = Buffer.from(topic);
  return {
    bytes,
    topicBytes: bytes,
    topicAt: 0,
    topicLength: bytes.length,
    payloadAt: 0,
    payloadLength: 0,
    qos: 0,
    dup: false,
    retain: false,
    packetId: 0,
    expiryS: -1,
    responseTopicAt: -1,
    responseTopicLength: 0,
    correlationAt: -1,
    correlationLength: 0,
    identifiers: Uint32Array.from(identifiers),
    identifierCount: identifiers.length,
  };
}

const FILTERS = [['a/#'], ['a/b'], ['$share/g/c/+']];
const filtersOf = (_position: number, entry: number) => FILTERS[entry] ?? [];

test('an identifier says more than a topic, which several filters may match', () => {
  const finder = new EntryFinder([7, 8, null], filtersOf);
  expect(finder.find(0, publish('a/b', [8]))).toBe(1);
  expect(finder.find(0, publish('a/b', [7]))).toBe(0);
  expect(finder.find(0, publish('a/b'))).toBe(0);
  expect(finder.find(0, publish('c/x'))).toBe(2);
});

test('an identifier of several entries, or of none, says nothing', () => {
  const finder = new EntryFinder([7, 7, 9], filtersOf);
  expect(finder.find(0, publish('c/x', [7]))).toBe(2);
  expect(finder.find(0, publish('c/x', [1]))).toBe(2);
  expect(finder.find(0, publish('a/b', [1, 9]))).toBe(2);
});
