import { describe, expect, test } from 'vitest';
import { Subscriptions } from '../../src/worker/clients/subscriptions.ts';
import { topicMatches } from '../../src/worker/clients/topic-filter.ts';

function subscriptionsOf(clients: number, entries: number) {
  const asked: string[] = [];
  const failed: string[] = [];
  const left: string[] = [];
  const subscriptions = new Subscriptions({
    clients,
    entries,
    timeoutUs: 1e6,
    actions: {
      subscribe: (position, entry) => asked.push(`${position}/${entry}`),
      unsubscribe: (position, entry) => left.push(`${position}/${entry}`),
      failed: (position, entry, { asked: what, why }) =>
        failed.push(`${position}/${entry} ${what} ${why}`),
    },
  });
  return { subscriptions, asked, left, failed };
}

const granted = (nowUs: number) => ({ granted: true, nowUs });

describe('giving up an entry', () => {
  test('asks whoever holds it, and is done with the last UNSUBACK', () => {
    const { subscriptions, left } = subscriptionsOf(3, 2);
    for (const entry of [0, 1]) subscriptions.want(entry, 0, () => true);
    for (const entry of [0, 1]) subscriptions.onSuback(0, entry, granted(1));
    subscriptions.onSuback(1, 1, granted(1));
    subscriptions.release(1, 10, () => true);
    expect(left).toEqual(['0/1', '1/1']);
    expect(subscriptions.released(1)).toBe(false);
    expect(subscriptions.onUnsuback(0, 1, 35)).toBe(25);
    expect(subscriptions.onUnsuback(0, 1, 36)).toBeLessThan(0);
    expect(subscriptions.onUnsuback(1, 1, 40)).toBe(30);
    expect(subscriptions.released(1)).toBe(true);
    // Who was granted it only now gives it up at once.
    subscriptions.onSuback(2, 1, granted(50));
    expect(left).toEqual(['0/1', '1/1', '2/1']);
    expect(subscriptions.released(0)).toBe(true);
  });

  test('waits for the client that sleeps, if its session is there when it wakes', () => {
    const { subscriptions, asked, left } = subscriptionsOf(2, 1);
    subscriptions.want(0, 0, () => true);
    for (const position of [0, 1]) subscriptions.onSuback(position, 0, granted(1));
    for (const position of [0, 1]) subscriptions.onClosed(position);
    subscriptions.release(0, 10, () => false);
    subscriptions.onConnected(0, true, 20);
    subscriptions.onConnected(1, false, 20);
    expect(left).toEqual(['0/0']);
    expect(asked).toHaveLength(2);
  });

  test('fails without an UNSUBACK in time, or with the connection', () => {
    const { subscriptions, failed } = subscriptionsOf(2, 1);
    subscriptions.want(0, 0, () => true);
    for (const position of [0, 1]) subscriptions.onSuback(position, 0, granted(1));
    subscriptions.release(0, 10, () => true);
    subscriptions.onClosed(1);
    subscriptions.scan(1.1e6);
    expect(failed).toEqual(['1/0 unsubscribe connection_lost', '0/0 unsubscribe timed_out']);
    expect(subscriptions.released(0)).toBe(true);
    expect(subscriptions.pending).toBe(0);
  });
});

describe('subscriptions', () => {
  test('are asked for by every connected client, and settled when all are answered', () => {
    const { subscriptions, asked } = subscriptionsOf(2, 1);
    subscriptions.want(0, 10, (position) => position === 0);
    expect(asked).toEqual(['0/0']);
    expect(subscriptions.onSuback(0, 0, granted(35))).toBe(25);
    expect(subscriptions.settled(0)).toBe(false);
    subscriptions.onConnected(1, false, 40);
    expect(subscriptions.onSuback(1, 0, { granted: false, nowUs: 50 })).toBe(10);
    expect(subscriptions.settled(0)).toBe(true);
    expect(subscriptions.pending).toBe(0);
  });

  test('are made again after a reconnect, unless the broker kept the session', () => {
    const { subscriptions, asked } = subscriptionsOf(1, 2);
    subscriptions.want(1, 0, () => true);
    subscriptions.onSuback(0, 1, granted(5));
    subscriptions.onClosed(0);
    subscriptions.onConnected(0, true, 10);
    expect(asked).toEqual(['0/1']);
    subscriptions.onConnected(0, false, 20);
    expect(asked).toEqual(['0/1', '0/1']);
  });

  test('fail without a SUBACK in time, and a late one is not taken', () => {
    const { subscriptions, failed } = subscriptionsOf(3, 1);
    subscriptions.want(0, 0, (position) => position === 2);
    subscriptions.scan(999_999);
    expect(failed).toEqual([]);
    subscriptions.scan(1e6);
    expect(failed).toEqual(['2/0 subscribe timed_out']);
    expect(subscriptions.onSuback(2, 0, granted(2e6))).toBeLessThan(0);
  });

  test('fail with the connection, and wait for the next one', () => {
    const { subscriptions, failed, asked } = subscriptionsOf(1, 1);
    subscriptions.want(0, 0, () => true);
    subscriptions.onClosed(0);
    expect(failed).toEqual(['0/0 subscribe connection_lost']);
    expect(subscriptions.settled(0)).toBe(false);
    subscriptions.onConnected(0, false, 5);
    expect(asked).toHaveLength(2);
    subscriptions.onGaveUp(0);
    expect(subscriptions.settled(0)).toBe(true);
  });
});

describe('topic filters', () => {
  test.each([
    ['a/b', 'a/b', true],
    ['a/+', 'a/b', true],
    ['a/+', 'a/b/c', false],
    ['a/#', 'a', true],
    ['a/#', 'a/b/c', true],
    ['#', 'a/b', true],
    ['#', '$SYS/x', false],
    ['+/x', '$SYS/x', false],
    ['$SYS/#', '$SYS/x', true],
    ['+', '/a', false],
    ['/+', '/a', true],
    ['a/b', 'a', false],
    ['a', 'a/b', false],
    ['$share/group/a/+', 'a/b', true],
  ])('%s against %s: %s', (filter, topic, matches) => {
    expect(topicMatches(filter, topic)).toBe(matches);
  });
});
