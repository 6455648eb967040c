import { describe, expect, test } from 'vitest';
import { Subscriptions } from '../../src/worker/clients/subscriptions.ts';
import { topicMatches } from '../../src/worker/clients/topic-filter.ts';

function subscriptionsOf(clients: number, entries: number) {
  const asked: string[] = [];
  const failed: string[] = [];
  const subscriptions = new Subscriptions({
    clients,
    entries,
    timeoutUs: 1e6,
    actions: {
      subscribe: (position, entry) => asked.push(`${position}/${entry}`),
      failed: (position, entry, why) => failed.push(`${position}/${entry} ${why}`),
    },
  });
  return { subscriptions, asked, failed };
}

const granted = (nowUs: number) => ({ granted: true, nowUs });

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
    expect(failed).toEqual(['2/0 timed_out']);
    expect(subscriptions.onSuback(2, 0, granted(2e6))).toBeLessThan(0);
  });

  test('fail with the connection, and wait for the next one', () => {
    const { subscriptions, failed, asked } = subscriptionsOf(1, 1);
    subscriptions.want(0, 0, () => true);
    subscriptions.onClosed(0);
    expect(failed).toEqual(['0/0 connection_lost']);
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
