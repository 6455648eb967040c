import { Outcome, Sent } from '@squall/rocketmq';
import { describe, expect, test } from 'vitest';
import { BACKPRESSURE, NOT_CONNECTED } from '../../../src/worker/publish/outlet.ts';
import { closedLoop } from './stream-fixture.ts';

describe('senders', () => {
  test('have one request under way each, and send on when it is answered', () => {
    const { run, sender, settle, figures } = closedLoop({});
    run.feed.pick(2_000);
    expect(sender.tokens).toHaveLength(3);
    settle(sender.tokens[0] ?? 0, {});
    expect(sender.tokens).toHaveLength(4);
    expect(figures()).toMatchObject({ scheduled: 4, sent: 4, acked: 1, published: 1 });
    expect(run.inflight).toBe(3);
  });

  test('have as many as their window has, and no message more than the count', () => {
    const { run, sender, settle, figures } = closedLoop({ window: 4, count: 14 });
    run.feed.pick(2_000);
    expect(sender.tokens).toHaveLength(12);
    for (let k = 0; k < 14; k++) settle(sender.tokens[k] ?? 0, {});
    expect(sender.tokens).toHaveLength(14);
    expect(run.resolved).toBe(true);
    expect(figures()).toMatchObject({ planned: 14, scheduled: 14, sent: 14, acked: 14 });
  });

  test('wait while no broker is connected, and a little where one takes nothing', () => {
    const { run, sender, figures, unresolved, moment, stream } = closedLoop({});
    sender.isConnected = false;
    expect(run.refusal(0)).toBe(NOT_CONNECTED);
    sender.isConnected = true;
    sender.answer = Sent.full;
    run.feed.pick(2_000);
    // The first refusal tells the others.
    expect(run.refusal(1)).toBe(BACKPRESSURE);
    expect(figures()).toMatchObject({
      'publish_failed: not sent: too many requests wait for their answers': 1,
    });
    expect(unresolved).toEqual(['open 0/0']);
    sender.answer = Sent.accepted;
    moment[0] = 20_000;
    stream.work(20_000);
    expect(run.inflight).toBe(3);
  });
});

describe('what becomes of a request', () => {
  test.each([
    [Outcome.slaveNotAvailable, 'SLAVE_NOT_AVAILABLE', 'unconfirmed: SLAVE_NOT_AVAILABLE', []],
    [Outcome.busy, '[OVERLOAD]', 'publish_failed: [OVERLOAD]', ['refused 0/0']],
    [Outcome.refused, 'NO_PERMISSION', 'publish_failed: NO_PERMISSION', ['refused 0/0']],
    [
      Outcome.timedOut,
      'timed out',
      'publish_failed: no acknowledgement within the time-out',
      ['open 0/0'],
    ],
    [Outcome.connectionLost, 'connection lost', 'publish_failed: connection lost', ['open 0/0']],
  ])('outcome %i is booked by its reason', (outcome, reason, booked, open) => {
    const { run, sender, settle, figures, unresolved } = closedLoop({ count: 3 });
    run.feed.pick(2_000);
    settle(sender.tokens[0] ?? 0, { outcome, reason });
    expect(figures()).toMatchObject({ [booked]: 1 });
    expect(unresolved).toEqual(open);
    expect(run.inflight).toBe(2);
  });

  test('is a failure at the end of the drain, and no answer counts after it', () => {
    const { run, sender, settle, figures, unresolved } = closedLoop({ count: 3 });
    run.feed.pick(2_000);
    run.drainOver();
    expect(figures()).toMatchObject({
      'publish_failed: no acknowledgement by the end of the drain': 3,
    });
    expect(run.resolved).toBe(true);
    settle(sender.tokens[0] ?? 0, {});
    expect(figures()).toEqual({});
    expect(unresolved).toHaveLength(3);
  });
});
