import { describe, expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';
import { brokerBooksOf } from '../../src/report/broker-books.ts';
import type { GroupFigures } from '../../src/report/model.ts';

type Reasons = GroupFigures['reasons'];

function planOf(publish: object) {
  const stream = { topic: 'orders', payload: '1KB', rate: 'max', ...publish };
  const read = readPlan(
    JSON.stringify({
      squall: 1,
      name: 'books',
      targets: { mq: { protocol: 'rocketmq', nameServers: ['h:9876'] } },
      groups: { producers: { target: 'mq', clients: 1, publish: stream } },
      stages: [{ name: 'load', run: { producers: 'publish' }, for: '1s' }],
    }),
  );
  if (!read.ok) throw new Error('the plan of this test is wrong');
  return read.plan;
}

function booksOf(
  counters: Readonly<Record<string, number>>,
  { reasons = {}, publish = {} }: { readonly reasons?: Reasons; readonly publish?: object } = {},
) {
  const figures: GroupFigures = { counters, reasons, times: {}, streams: {}, stages: {} };
  return brokerBooksOf(planOf(publish), { producers: figures });
}

describe('the books of the brokers', () => {
  test('agree where as much was stored as acknowledged', () => {
    expect(booksOf({ stored: 100, acked: 100 })).toEqual({
      notes: ['orders grew by 100 messages, 100 were acknowledged'],
      failures: [],
    });
  });

  test('fail the run where less was stored', () => {
    const { failures, notes } = booksOf({ stored: 99, acked: 100 });
    expect(failures).toEqual([
      'the broker has less than it acknowledged: orders grew by 99 messages, 100 were acknowledged',
    ]);
    expect(notes).toEqual([]);
  });

  test('name what got no answer, and leave what was refused out', () => {
    const reasons = {
      publish_failed: { 'connection lost': 3, '[OVERLOAD]': 50, 'not sent: connection lost': 7 },
      unfinished: { in_flight: 2, waiting: 9 },
    };
    expect(booksOf({ stored: 104, acked: 100 }, { reasons }).notes).toEqual([
      'orders grew by 104 messages, 100 were acknowledged, 5 without an answer',
    ]);
    expect(booksOf({ stored: 106, acked: 100 }, { reasons }).notes).toEqual([
      'orders grew by 106 messages, 100 were acknowledged, 5 without an answer: others write to it, too',
    ]);
  });

  test('expect no half messages that were rolled back, and wait for none that is open', () => {
    const reasons = { transactions: { committed: 60, 'rolled back': 30, 'left open': 10 } };
    const publish = { transaction: { rollback: '30%', unknown: '10%' } };
    for (const stored of [60, 70]) {
      expect(booksOf({ stored, acked: 100 }, { reasons, publish }).failures).toEqual([]);
    }
    expect(booksOf({ stored: 59, acked: 100 }, { reasons, publish }).failures).toHaveLength(1);
  });

  test('count one-way messages as perhaps stored, delayed ones as perhaps not there yet', () => {
    const oneway = booksOf({ stored: 90, acked: 0, published: 100 }, { publish: { oneway: true } });
    expect(oneway).toMatchObject({ failures: [], notes: [expect.stringContaining('100 without')] });
    const delayed = booksOf({ stored: 1, acked: 100 }, { publish: { delayLevel: 3 } });
    expect(delayed.failures).toEqual([]);
  });

  test('say where the offsets could not be read, and what a group has not read', () => {
    const { notes, failures } = booksOf({ stored: 0, acked: 100, unread: 1 });
    expect(failures).toEqual([]);
    expect(notes[0]).toBe('producers: 1 message stored and not read at the end: no loss');
    expect(notes[1]).toMatch(/offsets of orders are not known/);
  });
});
