import { connectSchedule, dueUs } from '@squall/core/schedule';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientOrder } from '../../src/worker/clients/client-order.ts';
import { BACKING_OFF, CONNECTED, FAILED } from '../../src/worker/clients/connection-state.ts';
import { Connector } from '../../src/worker/clients/connector.ts';
import { RetryQueue } from '../../src/worker/clients/retry-queue.ts';
import { groupOf } from './fixture/plan.ts';

function connectorOf(parts: { count: number; total: number; ratePerS: number; retries?: number }) {
  const order = clientOrder({ first: 0, last: parts.count - 1, clients: parts.count }, parts.total);
  const states = new Uint8Array(parts.count);
  const attempts: { position: number; atUs: number }[] = [];
  const gone: number[] = [];
  const connector = new Connector({
    order,
    connect: { ...groupOf().connect, ratePerS: parts.ratePerS, retries: parts.retries ?? 3 },
    states,
    actions: {
      attempt: (position, atUs) => attempts.push({ position, atUs }),
      disconnect: () => undefined,
      gaveUp: (position) => gone.push(position),
      takeOver: () => undefined,
      missed: () => undefined,
    },
  });
  return { connector, states, attempts, gone, order };
}

/** Works a tick a millisecond. */
function run(connector: Connector, fromUs: number, toUs: number): void {
  for (let us = fromUs; us <= toUs; us += 1_000) connector.work(us);
}

describe('connector', () => {
  test('connects each client once, by its rank at the group rate', () => {
    const { connector, attempts, order } = connectorOf({ count: 20, total: 100, ratePerS: 50 });
    connector.connectAll(1_000);
    run(connector, 0, 2_100_000);
    expect(attempts).toHaveLength(20);
    const schedule = connectSchedule(50, 100);
    for (const { position, atUs } of attempts) {
      const due = 1_000 + dueUs(schedule, order.ranks[position] ?? 0);
      expect(atUs).toBeGreaterThanOrEqual(due);
      expect(atUs).toBeLessThan(due + 1_000);
    }
  });

  test('tries a failed client again after 1, 2 and 4 s, then gives it up', () => {
    const { connector, attempts, states, gone } = connectorOf({ count: 1, total: 1, ratePerS: 1 });
    connector.connectAll(0);
    for (let us = 0; us < 30e6; us += 1_000) {
      const before = attempts.length;
      connector.work(us);
      if (attempts.length > before) connector.onAttemptFailed(0, us);
    }
    const waits = attempts.slice(1).map(({ atUs }, k) => atUs - (attempts[k]?.atUs ?? 0));
    expect(attempts).toHaveLength(4);
    for (const [k, least] of [1e6, 2e6, 4e6].entries()) {
      expect(waits[k]).toBeGreaterThanOrEqual(least);
      expect(waits[k]).toBeLessThanOrEqual(least * 1.25 + 1_000);
    }
    expect(states[0]).toBe(FAILED);
    expect(gone).toEqual([0]);
    expect(connector.settled).toBe(true);
  });

  test('never gives up a client that was connected once, and waits 8 s at most', () => {
    const { connector, attempts, states } = connectorOf({ count: 1, total: 1, ratePerS: 1 });
    connector.connectAll(0);
    connector.work(0);
    connector.onConnected(0, 0);
    connector.onClosed(0, 0);
    for (let us = 0; us < 100e6; us += 1_000) {
      const before = attempts.length;
      connector.work(us);
      if (attempts.length > before) connector.onAttemptFailed(0, us);
    }
    expect(states[0]).toBe(BACKING_OFF);
    const waits = attempts.slice(2).map(({ atUs }, k) => atUs - (attempts[k + 1]?.atUs ?? 0));
    expect(Math.max(...waits)).toBeLessThanOrEqual(8e6 + 2_000);
    expect(waits.length).toBeGreaterThan(10);
  });

  test('lets clients lost together back at no more than their share of the connect rate', () => {
    const { connector, attempts, states } = connectorOf({ count: 500, total: 500, ratePerS: 200 });
    connector.connectAll(0);
    run(connector, 0, 3e6);
    for (let position = 0; position < 500; position++) connector.onConnected(position, 0);
    expect(states.every((state) => state === CONNECTED)).toBe(true);
    for (let position = 0; position < 500; position++) connector.onClosed(position, 3e6);
    attempts.length = 0;
    run(connector, 3e6, 9e6);
    expect(attempts).toHaveLength(500);
    for (let us = 3e6; us < 9e6; us += 100e3) {
      const inWindow = attempts.filter(({ atUs }) => atUs >= us && atUs < us + 100e3).length;
      expect(inWindow).toBeLessThanOrEqual(21);
    }
  });

  test('disconnects on demand, and connects the same clients again', () => {
    const { connector, attempts } = connectorOf({ count: 5, total: 5, ratePerS: 1000 });
    connector.connectAll(0);
    run(connector, 0, 10e3);
    for (let position = 0; position < 5; position++) connector.onConnected(position, 0);
    connector.disconnectAll(20e3);
    expect(connector.isDoneMoving).toBe(false);
    run(connector, 20e3, 30e3);
    expect(connector.isDoneMoving).toBe(true);
    expect(connector.connected).toBe(0);
    connector.connectAll(40e3);
    expect(connector.settled).toBe(false);
    run(connector, 40e3, 50e3);
    expect(attempts).toHaveLength(10);
  });
});

describe('retry queue', () => {
  test('gives out by time, whatever the order of entry', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1000 }), { maxLength: 200 }), (times) => {
        const queue = new RetryQueue();
        times.forEach((us, position) => {
          queue.push(position, us);
        });
        const out: number[] = [];
        const positions = new Set<number>();
        while (queue.size > 0) {
          out.push(queue.firstUs());
          positions.add(queue.firstPosition());
          expect(times[queue.firstPosition()]).toBe(queue.firstUs());
          queue.pop();
        }
        expect(out).toEqual(times.toSorted((a, b) => a - b));
        expect(positions.size).toBe(times.length);
        expect(queue.firstUs()).toBe(Number.POSITIVE_INFINITY);
      }),
    );
  });
});
