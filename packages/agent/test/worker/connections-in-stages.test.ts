import type { Activity } from '@squall/core/plan';
import { describe, expect, test } from 'vitest';
import { entryOf, groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';
import { VirtualRun } from './fixture/virtual-run.ts';

const kept = { ...groupOf().connect, cleanStart: false };
const devices = groupOf({
  connect: kept,
  publish: [streamOf()],
  subscribe: [entryOf({ subject: 'devices' })],
});

/** All connect and subscribe, then the stage that a test is about, from 1 s to 4 s. */
function runOf(
  activities: readonly Activity[],
  parts: { group?: typeof devices; forUs?: number } = {},
) {
  const group = parts.group ?? devices;
  const plan = planOf({
    groups: [group],
    stages: [
      { run: [{ group: 0, activities: [{ kind: 'subscribe', entry: 0 }] }] },
      {
        run: [{ group: 0, activities }],
        ...(parts.forUs === undefined ? {} : { forUs: parts.forUs }),
      },
      { run: [], forUs: 1e6 },
    ],
  });
  const run = new VirtualRun(plan);
  run.advance(0, 0);
  run.runTo(0.9e6);
  expect(run.states).toEqual(['0 complete']);
  run.advance(1, 1e6);
  return run;
}

const count = (run: VirtualRun, metric: string) => run.books.counter(metric, 'devices');
const storm = (keep: boolean): Activity => ({
  kind: 'disconnect',
  drop: { share: 0.5, ratePerS: null, abrupt: true, keep, back: { ratePerS: 10, afterUs: 500e3 } },
});

describe('a reconnect storm', () => {
  test('resets its share, times the way back, and is complete when all are back', () => {
    const run = runOf([storm(true)]);
    run.runTo(1.8e6);
    expect(run.clients[0]?.resets).toHaveLength(5);
    expect(run.states).toEqual(['0 complete']);
    run.runTo(2.1e6);
    expect(run.states).toEqual(['0 complete', '1 complete']);
    run.load.engine.finish();
    expect(count(run, 'disconnects')).toBe(5);
    expect(count(run, 'connected')).toBe(15);
    expect(count(run, 'disconnected')).toBe(0);
    const back = run.books.time('recovery_time', 'devices');
    expect(back.count).toBe(5);
    expect(back.minUs).toBeGreaterThanOrEqual(500e3);
    // The last of five comes back 400 ms after the first.
    expect(back.maxUs).toBeGreaterThanOrEqual(900e3);
    expect(back.maxUs).toBeLessThan(910e3);
  });

  test('has subscribed anew before it counts as recovered, where no session was kept', () => {
    const run = runOf([storm(false)], {
      group: { ...devices, connect: { ...kept, cleanStart: true } },
    });
    run.runTo(2.1e6);
    run.load.engine.finish();
    expect(count(run, 'subscribed')).toBe(15);
    expect(run.books.time('recovery_time', 'devices').count).toBe(5);
    expect(run.states).toContain('1 complete');
  });

  test('leaves messages that are due waiting for the way back', () => {
    const run = runOf([storm(true), publishing(devices)], { forUs: 2e6 });
    run.runTo(8e6);
    run.load.engine.finish();
    expect(count(run, 'planned')).toBe(200);
    expect(count(run, 'acked')).toBe(200);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
  });
});

describe('sleeping clients', () => {
  test('go with DISCONNECT and wake to the same subscriptions', () => {
    const plan = planOf({
      groups: [devices],
      stages: [
        { run: [{ group: 0, activities: [{ kind: 'subscribe', entry: 0 }] }] },
        {
          run: [
            {
              group: 0,
              activities: [
                {
                  kind: 'disconnect',
                  drop: { share: 1, ratePerS: 1_000, abrupt: false, keep: true, back: null },
                },
              ],
            },
          ],
        },
        { run: [{ group: 0, activities: [{ kind: 'connect', ratePerS: 20 }] }] },
      ],
    });
    const run = new VirtualRun(plan);
    run.broker.keepsSessions = true;
    run.advance(0, 0);
    run.runTo(0.9e6);
    run.advance(1, 1e6);
    run.runTo(1.9e6);
    expect(run.states.at(-1)).toBe('1 complete');
    expect(run.clients[0]?.connectedCount).toBe(0);
    run.advance(2, 2e6);
    run.runTo(2.4e6);
    expect(run.clients[0]?.connectedCount).toBe(8);
    run.runTo(2.9e6);
    run.load.engine.finish();
    expect(run.states).toContain('2 complete');
    expect(count(run, 'session_present')).toBe(10);
    expect(count(run, 'subscribed')).toBe(10);
    expect(run.books.time('recovery_time', 'devices').count).toBe(0);
  });
});

test('unsubscribing is complete with the last UNSUBACK', () => {
  const run = runOf([{ kind: 'unsubscribe', entry: 0 }]);
  run.broker.ackUs = 200e3;
  run.runTo(1.15e6);
  expect(run.states).toEqual(['0 complete']);
  run.runTo(1.3e6);
  expect(run.states).toEqual(['0 complete', '1 complete']);
  run.load.engine.finish();
  expect(count(run, 'unsubscribed')).toBe(10);
  expect(run.books.time('unsubscribe_time', 'devices').minUs).toBe(200e3);
});

describe('churn', () => {
  const visitors = groupOf({
    connect: { ...kept, cleanStart: true },
    subscribe: [entryOf({ subject: 'devices' })],
  });
  const stages = [
    {
      run: [
        {
          group: 0,
          activities: [
            { kind: 'subscribe', entry: 0 },
            { kind: 'churn', ratePerS: 20, stayUs: 300e3 },
          ] as const,
        },
      ],
      forUs: 2e6,
    },
    { run: [{ group: 0, activities: [{ kind: 'connect' }] as const }] },
  ];

  test('subscribes with each visit, owns its turns by index, and gives way to connecting', () => {
    const run = new VirtualRun(planOf({ groups: [visitors], stages }));
    run.advance(0, 0);
    run.runTo(1.95e6);
    run.advance(1, 2e6);
    run.runTo(4e6);
    run.load.engine.finish();
    expect(run.books.counter('connected', 'devices', 0)).toBe(40);
    expect(run.books.counter('subscribed', 'devices', 0)).toBeGreaterThanOrEqual(39);
    expect(count(run, 'connect_missed')).toBe(0);
    expect(run.states).toContain('1 complete');
  });
});

describe('a takeover', () => {
  const take: Activity = { kind: 'takeover', share: 0.5, ratePerS: 100 };

  test('replaces connections, counts both sides, and goes on publishing', () => {
    const run = runOf([take, publishing(devices)], { forUs: 2e6 });
    run.broker.keepsSessions = true;
    run.broker.takesOver = 'session taken over (0x8E)';
    run.runTo(8e6);
    run.load.engine.finish();
    expect(count(run, 'takeovers')).toBe(5);
    expect(run.books.reasons('taken_over', 'devices')).toEqual({ 'session taken over (0x8E)': 5 });
    expect(count(run, 'takeover_failed')).toBe(0);
    expect(count(run, 'disconnected')).toBe(0);
    expect(count(run, 'connected')).toBe(15);
    expect(count(run, 'planned')).toBe(200);
    expect(count(run, 'acked')).toBe(200);
    expect(run.books.imbalances('devices', { qos: 1 })).toEqual([]);
    expect(run.states).toContain('2 drained');
  });

  test('whose old connection the broker leaves open has failed', () => {
    const group = { ...devices, connect: { ...kept, timeoutUs: 1e6 } };
    const run = runOf([take], { group });
    run.runTo(4e6);
    run.load.engine.finish();
    expect(count(run, 'takeovers')).toBe(5);
    expect(count(run, 'taken_over')).toBe(0);
    expect(run.books.reasons('takeover_failed', 'devices')).toEqual({
      'the old connection stays open': 5,
    });
    expect(run.states).toContain('1 complete');
    expect(run.clients[0]?.connectedCount).toBe(0);
  });

  test('that is refused leaves the connection as it was', () => {
    const run = runOf([take]);
    run.broker.refuse = () => 'not authorized (0x05)';
    run.runTo(3e6);
    run.load.engine.finish();
    expect(run.books.reasons('takeover_failed', 'devices')).toEqual({
      'the new connection failed': 5,
    });
    expect(run.books.reasons('connect_failed', 'devices')).toEqual({ 'not authorized (0x05)': 5 });
    expect(count(run, 'takeovers')).toBe(0);
    expect(run.states).toContain('1 complete');
  });
});
