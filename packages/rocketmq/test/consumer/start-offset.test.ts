import { describe, expect, test } from 'vitest';
import { RocketmqError } from '../../src/codec/rocketmq-error.ts';
import { placeGroup } from '../../src/consumer/start-offset.ts';
import type { TopicQueue } from '../../src/route/topic-queues.ts';

const ENDS = [50, 51, 49, 50];

const queues: TopicQueue[] = ENDS.map((_, queueId) => ({
  topic: 'orders',
  brokerName: 'broker-a',
  address: '127.0.0.1:10911',
  queueId,
}));

/**
 * A broker's table of a group, with the race of `ConsumerOffsetManager` made certain: whoever commits
 * while there is no table makes one of its own, and the last that is made replaces the others.
 */
class RacingBroker {
  table: Map<number, number> | null = null;

  minOffset(): Promise<number> {
    return Promise.resolve(0);
  }

  maxOffset(queue: TopicQueue): Promise<number> {
    return Promise.resolve(ENDS[queue.queueId] ?? -1);
  }

  offsetAt(): Promise<number> {
    return Promise.resolve(7);
  }

  async commitOffset(_group: string, queue: TopicQueue, offset: number): Promise<void> {
    const found = this.table;
    await new Promise(setImmediate);
    const table = found ?? new Map<number, number>();
    table.set(queue.queueId, offset);
    this.table = table;
  }
}

describe('the place of a new group', () => {
  test('from last is the end of every queue, also where concurrent first commits are lost', async () => {
    const broker = new RacingBroker();
    expect(await placeGroup(broker, queues, { group: 'new', from: { at: 'last' } })).toBe(true);
    expect([...(broker.table ?? [])].toSorted(([a], [b]) => a - b)).toEqual(
      ENDS.map((end, id) => [id, end]),
    );
  });

  test('the broker of the test does lose commits that come at once', async () => {
    const broker = new RacingBroker();
    await Promise.all(queues.map((queue) => broker.commitOffset('new', queue, 1)));
    expect(broker.table?.size).toBe(1);
  });

  test('is not believed where the broker refuses it', async () => {
    const broker = new RacingBroker();
    broker.commitOffset = () => Promise.reject(new RocketmqError('ANSWER', 'no such group'));
    expect(await placeGroup(broker, queues, { group: 'new', from: { at: 'last' } })).toBe(false);
  });
});
