import { split } from '@squall/core/partition';
import { rankMultiplier, rankOf } from '@squall/core/schedule';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientOrder } from '../../src/worker/clients/client-order.ts';
import { CONNECTED, FAILED, IDLE } from '../../src/worker/clients/connection-state.ts';
import { Connector, type Leaving } from '../../src/worker/clients/connector.ts';
import { groupOf } from './fixture/plan.ts';

interface Parts {
  readonly first?: number;
  readonly count: number;
  readonly total?: number;
  /** µs from an attempt to its CONNACK. */
  readonly connackUs?: number;
}

/** A connector whose attempts succeed after a while, on virtual time. */
class Scene {
  readonly order;
  readonly states: Uint8Array;
  readonly connector: Connector;
  readonly attempts: { client: number; atUs: number }[] = [];
  readonly left: { client: number; atUs: number; leaving: Leaving }[] = [];
  readonly takenOver: { client: number; atUs: number }[] = [];
  readonly missed: number[] = [];
  nowUs = 0;
  readonly #pending: { position: number; atUs: number }[] = [];

  constructor({ first = 0, count, total = count, connackUs = 100 }: Parts) {
    this.order = clientOrder({ first, last: first + count - 1, clients: count }, total);
    this.states = new Uint8Array(count);
    this.connector = new Connector({
      order: this.order,
      connect: groupOf().connect,
      states: this.states,
      actions: {
        attempt: (position, atUs) => {
          this.attempts.push({ client: this.#client(position), atUs });
          this.#pending.push({ position, atUs: atUs + connackUs });
        },
        disconnect: (position, leaving) =>
          this.left.push({ client: this.#client(position), atUs: this.nowUs, leaving }),
        gaveUp: () => undefined,
        takeOver: (position) => {
          this.takenOver.push({ client: this.#client(position), atUs: this.nowUs });
          this.connector.onTakeoverOver();
        },
        missed: (position) => this.missed.push(this.#client(position)),
      },
    });
  }

  runTo(us: number): void {
    for (; this.nowUs <= us; this.nowUs += 1_000) {
      for (const each of this.#pending.splice(0)) {
        if (each.atUs > this.nowUs) this.#pending.push(each);
        else if (this.states[each.position] !== IDLE) {
          this.connector.onConnected(each.position, this.nowUs);
        }
      }
      this.connector.work(this.nowUs);
    }
  }

  connected(): this {
    this.connector.connectAll(0, 1e6);
    this.runTo(100_000);
    this.attempts.length = 0;
    return this;
  }

  #client(position: number): number {
    return this.order.numbers[position] ?? -1;
  }
}

const storm = { share: 0.5, ratePerS: null, abrupt: true, keep: false };

describe('a storm', () => {
  test('drops its share at once and has it back at the rate', () => {
    const scene = new Scene({ count: 40 }).connected();
    scene.connector.drop({ ...storm, back: { ratePerS: 100, afterUs: 200_000 } }, 500_000);
    scene.runTo(510_000);
    expect(scene.left).toHaveLength(20);
    expect(new Set(scene.left.map(({ atUs }) => atUs))).toEqual(new Set([500_000]));
    expect(scene.left[0]?.leaving).toEqual({ abrupt: true, keep: false, returns: true });
    expect(scene.connector.connected).toBe(20);
    expect(scene.connector.isDoneMoving).toBe(false);
    scene.runTo(1_000_000);
    expect(scene.attempts.map(({ atUs }) => atUs)).toEqual(
      Array.from({ length: 20 }, (_, k) => 701_000 + k * 10_000 - 1_000),
    );
    expect(scene.connector.connected).toBe(40);
    expect(scene.connector.isDoneMoving).toBe(true);
  });

  test('is over only when the last one is connected, not when it has had its turn', () => {
    const scene = new Scene({ count: 4, connackUs: 300_000 });
    scene.connector.connectAll(0, 1e6);
    scene.runTo(400_000);
    scene.connector.drop({ ...storm, share: 1, back: { ratePerS: 1e6, afterUs: 0 } }, 500_000);
    scene.runTo(600_000);
    expect(scene.attempts).toHaveLength(8);
    expect(scene.connector.isDoneMoving).toBe(false);
    scene.runTo(900_000);
    expect(scene.connector.isDoneMoving).toBe(true);
  });

  test('has nobody back before it has gone', () => {
    const scene = new Scene({ count: 10 }).connected();
    const slow = { share: 1, ratePerS: 10, abrupt: false, keep: true };
    scene.connector.drop({ ...slow, back: { ratePerS: 1_000, afterUs: 0 } }, 500_000);
    scene.runTo(2_000_000);
    expect(scene.left).toHaveLength(10);
    expect(scene.attempts).toHaveLength(10);
    for (const [k, { client, atUs }] of scene.attempts.entries()) {
      expect(client).toBe(scene.left[k]?.client);
      expect(atUs).toBeGreaterThanOrEqual(scene.left[k]?.atUs ?? 0);
    }
    expect(scene.connector.connected).toBe(10);
  });

  test('takes the same clients, however many agents share them', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 100 }),
        (total, agents, percent) => {
          const weights = agents.map((workers, k) => ({ agent: `a${k}`, workers }));
          const shares = split([total], weights).flatMap(({ workers }) => workers);
          const left = shares.flatMap(({ groups: [range] }) => {
            const scene = new Scene({
              first: range?.first ?? 0,
              count: range?.clients ?? 0,
              total,
            });
            scene
              .connected()
              .connector.drop({ ...storm, share: percent / 100, back: null }, 150_000);
            scene.runTo(160_000);
            return scene.left.map(({ client }) => client);
          });
          const multiplier = rankMultiplier(total);
          const ranks = Math.max(1, Math.round((percent / 100) * total));
          const meant = Array.from({ length: total }, (_, client) => client).filter(
            (client) => rankOf(client, total, multiplier) < ranks,
          );
          expect(left.toSorted((a, b) => a - b)).toEqual(meant);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('ends with its stage, but has those back who went', () => {
    const scene = new Scene({ count: 10 }).connected();
    const spec = { share: 1, ratePerS: 10, abrupt: false, keep: false };
    scene.connector.drop({ ...spec, back: { ratePerS: 10, afterUs: 400_000 } }, 500_000);
    scene.connector.endTurns(500_000, 300_000);
    scene.runTo(3_000_000);
    expect(scene.left).toHaveLength(3);
    expect(scene.attempts).toHaveLength(3);
    expect(scene.connector.connected).toBe(10);
  });
});

describe('churn', () => {
  test('brings a client at each turn, round after round, and lets it go after its stay', () => {
    const scene = new Scene({ count: 10 });
    scene.connector.churn({ ratePerS: 20, stayUs: 200_000 }, 0);
    scene.connector.endTurns(0, 2_000_000);
    scene.runTo(3_000_000);
    expect(scene.attempts).toHaveLength(40);
    expect(new Set(scene.attempts.slice(0, 10).map(({ client }) => client)).size).toBe(10);
    expect(scene.left).toHaveLength(40);
    for (const [k, { atUs, client }] of scene.attempts.entries()) {
      expect(atUs).toBe(k * 50_000);
      expect(scene.left[k]?.client).toBe(client);
      // CONNACK comes a tick after the attempt; from there it stays.
      expect(scene.left[k]?.atUs).toBe(atUs + 201_000);
    }
    expect(scene.missed).toEqual([]);
    expect(scene.connector.connected).toBe(0);
  });

  test('is exact by index over any number of agents', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 2_000 }),
        (total, agents, perS) => {
          const weights = agents.map((workers, k) => ({ agent: `a${k}`, workers }));
          const shares = split([total], weights).flatMap(({ workers }) => workers);
          const turns = shares.map(({ groups: [range] }) => {
            const scene = new Scene({
              first: range?.first ?? 0,
              count: range?.clients ?? 0,
              total,
            });
            scene.connector.churn({ ratePerS: perS, stayUs: 1_000 }, 0);
            scene.connector.endTurns(0, 500_000);
            scene.runTo(700_000);
            return scene.attempts.length + scene.missed.length;
          });
          expect(turns.reduce((a, b) => a + b, 0)).toBe(Math.ceil(perS / 2));
        },
      ),
      { numRuns: 40 },
    );
  });

  test('counts a turn whose client is still there', () => {
    const scene = new Scene({ count: 1, connackUs: 150_000 });
    scene.connector.churn({ ratePerS: 10, stayUs: 10_000 }, 0);
    scene.connector.endTurns(0, 500_000);
    scene.runTo(600_000);
    expect(scene.attempts.map(({ atUs }) => atUs)).toEqual([0, 200_000, 400_000]);
    expect(scene.missed).toHaveLength(2);
  });

  test('has the next turn of a client for its next attempt', () => {
    const scene = new Scene({ count: 1, connackUs: 10e6 });
    scene.connector.churn({ ratePerS: 1, stayUs: 10_000 }, 0);
    scene.runTo(50_000);
    scene.connector.onAttemptFailed(0, 50_000);
    expect(scene.states[0]).toBe(IDLE);
    scene.runTo(1_500_000);
    expect(scene.attempts.map(({ atUs }) => atUs)).toEqual([0, 1_000_000]);
  });

  test('stops for whoever connects all afterwards', () => {
    const scene = new Scene({ count: 6 });
    scene.connector.churn({ ratePerS: 100, stayUs: 50_000 }, 0);
    scene.connector.endTurns(0, 60_000);
    scene.runTo(58_000);
    scene.connector.connectAll(60_000, 1e6);
    scene.runTo(500_000);
    expect(scene.connector.connected).toBe(6);
    expect(scene.connector.settled).toBe(true);
  });
});

test('a takeover asks those who are connected, by rank at its rate', () => {
  const scene = new Scene({ count: 10 }).connected();
  scene.connector.takeOver({ share: 0.4, ratePerS: 10 }, 500_000);
  expect(scene.connector.isDoneMoving).toBe(false);
  scene.runTo(2_000_000);
  expect(scene.takenOver.map(({ atUs }) => atUs)).toEqual([500_000, 600_000, 700_000, 800_000]);
  expect(scene.connector.isDoneMoving).toBe(true);
  const idle = new Scene({ count: 3 });
  idle.connector.takeOver({ share: 1, ratePerS: 10 }, 0);
  idle.runTo(500_000);
  expect(idle.takenOver).toEqual([]);
});

test('who sleeps is left alone until it is connected again', () => {
  const scene = new Scene({ count: 4 }).connected();
  const sleep = { share: 1, ratePerS: 1_000, abrupt: false, keep: true, back: null };
  scene.connector.drop(sleep, 200_000);
  scene.runTo(5_000_000);
  expect(scene.left.every(({ leaving }) => leaving.keep && !leaving.returns)).toBe(true);
  expect(scene.attempts).toEqual([]);
  expect([...scene.states]).toEqual([IDLE, IDLE, IDLE, IDLE]);
  scene.connector.connectAll(5_100_000, 1_000);
  scene.runTo(5_200_000);
  expect(scene.states.every((state) => state === CONNECTED)).toBe(true);
  expect(scene.states.includes(FAILED)).toBe(false);
});
