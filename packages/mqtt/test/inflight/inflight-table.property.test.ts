import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  InflightTable,
  PUBACK_LATE,
  PUBACK_UNKNOWN,
  PUBLISH_PACKET_ID_MAX,
} from '../../src/index.ts';

interface Sent {
  readonly client: number;
  readonly id: number;
  readonly entry: number;
}

const CLIENTS = 3;
const step = fc.record({
  action: fc.constantFrom(...(['send', 'send', 'send', 'ack', 'expire', 'late', 'reset'] as const)),
  client: fc.nat(CLIENTS - 1),
  pick: fc.nat(1_000),
});

describe('in-flight table', () => {
  test('agrees with a plain model, whatever the order of sends, acks and time-outs', () => {
    const agrees = fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(step, { maxLength: 400 }),
      (window, steps) => {
        const model = new Model(window);
        for (const { action, client, pick } of steps) {
          model[action](client, pick);
          model.check();
        }
      },
    );
    expect(() => fc.assert(agrees)).not.toThrow();
  });

  test('an id comes back only after all others of its position', () => {
    const table = new InflightTable({ clients: 1, window: 32 });
    const ids = new Set<number>();
    const generations = Math.floor(PUBLISH_PACKET_ID_MAX / 32);
    for (let i = 0; i < generations; i += 1) {
      const entry = table.acquire(0);
      ids.add(table.packetId(entry));
      table.release(entry);
    }
    expect(ids.size).toBe(generations);
  });

  test('the largest window uses every publish id at once', () => {
    const table = new InflightTable({ clients: 1, window: PUBLISH_PACKET_ID_MAX });
    const ids = new Set<number>();
    for (let i = 0; i < PUBLISH_PACKET_ID_MAX; i += 1) ids.add(table.packetId(table.acquire(0)));
    expect(ids.size).toBe(PUBLISH_PACKET_ID_MAX);
    expect(table.acquire(0)).toBe(-1);
    expect(table.settle(0, 0)).toBe(PUBACK_UNKNOWN);
    expect(table.settle(0, 65_535)).toBe(PUBACK_UNKNOWN);
  });

  test.each([0, -1, 1.5, PUBLISH_PACKET_ID_MAX + 1])('refuses a window of %d', (window) => {
    expect(() => new InflightTable({ clients: 1, window })).toThrow(RangeError);
  });
});

/** The table beside plain lists that say what it should hold. */
class Model {
  readonly #table: InflightTable;
  #flying: Sent[] = [];
  #locked: Sent[] = [];

  constructor(window: number) {
    this.#table = new InflightTable({ clients: CLIENTS, window });
  }

  send(client: number): void {
    const own = this.#flying.filter((sent) => sent.client === client);
    const entry = this.#table.acquire(client);
    if (own.length === this.#table.window) {
      assert.equal(entry, -1);
      return;
    }
    const id = this.#table.packetId(entry);
    assert.ok(id > 0 && id <= PUBLISH_PACKET_ID_MAX);
    const lost = this.#locked.filter((sent) => sent.client === client);
    assert.ok(![...own, ...lost].some((sent) => sent.id === id));
    assert.ok(!this.#flying.some((sent) => sent.entry === entry));
    assert.equal(this.#table.clientOf(entry), client);
    this.#flying.push({ client, id, entry });
  }

  ack(client: number, pick: number): void {
    const chosen = chooseOf(this.#flying, client, pick);
    if (chosen === undefined) return;
    assert.equal(this.#table.settle(client, chosen.id), chosen.entry);
    this.#table.release(chosen.entry);
    this.#flying = this.#flying.filter((sent) => sent !== chosen);
    assert.equal(this.#table.settle(client, chosen.id), PUBACK_UNKNOWN);
  }

  expire(client: number, pick: number): void {
    const chosen = chooseOf(this.#flying, client, pick);
    if (chosen === undefined) return;
    this.#table.expire(chosen.entry);
    this.#flying = this.#flying.filter((sent) => sent !== chosen);
    this.#locked.push(chosen);
  }

  late(client: number, pick: number): void {
    const chosen = chooseOf(this.#locked, client, pick);
    if (chosen === undefined) return;
    assert.equal(this.#table.settle(client, chosen.id), PUBACK_LATE);
    this.#locked = this.#locked.filter((sent) => sent !== chosen);
  }

  reset(client: number): void {
    this.#table.resetClient(client);
    this.#locked = this.#locked.filter((sent) => sent.client !== client);
  }

  check(): void {
    const table = this.#table;
    assert.equal(table.total, this.#flying.length);
    assert.equal(table.lockedIds, this.#locked.length);
    const byAge: number[] = [];
    for (let entry = table.oldest(); entry >= 0; entry = table.after(entry)) byAge.push(entry);
    assert.deepEqual(
      byAge,
      this.#flying.map((sent) => sent.entry),
    );
    for (let client = 0; client < CLIENTS; client += 1) {
      const own = this.#flying.filter((sent) => sent.client === client);
      assert.equal(table.countOf(client), own.length);
      const walked: number[] = [];
      for (let entry = table.nextOf(client, 0); entry >= 0; ) {
        walked.push(entry);
        entry = table.nextOf(client, table.positionOf(entry) + 1);
      }
      assert.deepEqual(rising(walked), rising(own.map((sent) => sent.entry)));
    }
  }
}

function chooseOf(sent: readonly Sent[], client: number, pick: number): Sent | undefined {
  const own = sent.filter((each) => each.client === client);
  return own[pick % Math.max(1, own.length)];
}

function rising(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}
