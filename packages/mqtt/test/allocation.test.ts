import { describe, expect, test } from 'vitest';
import { InboundPackets } from '../src/clients/inbound-packets.ts';
import { Outbox } from '../src/clients/outbox.ts';
import { Phase, SlotTable } from '../src/clients/slot-table.ts';
import { PacketFramer } from '../src/codec/packet-framer.ts';
import { publishSize, writePublish, writePuback } from '../src/codec/v311/publish-packet.ts';
import { type ClientHandlers, InflightTable, readMonotonicUs } from '../src/index.ts';
import type { Transport } from '../src/transport/transport.ts';
import { message } from './fixture/options.ts';

const CLIENTS = 100;
const MESSAGES = 50_000;
/** The first rounds run code that V8 has not compiled yet, for how long depends on the machine. */
const ROUNDS_MAX = 100;
/** Rounds in a row that allocate nothing. */
const QUIET_ROUNDS = 3;

/** A kernel that takes everything at once: what is left is our own path. */
const kernel: Transport = {
  send: () => true,
  unsentBytes: 0,
  finish: () => undefined,
  abort: () => undefined,
};

class AckCounter implements ClientHandlers {
  acked = 0;
  readonly #table: InflightTable;

  constructor(table: InflightTable) {
    this.#table = table;
  }
  onPuback(slot: number, packetId: number): void {
    const entry = this.#table.settle(slot, packetId);
    if (entry < 0) return;
    this.#table.release(entry);
    this.acked += 1;
  }
  onConnected(): void {}
  onConnectFailed(): void {}
  onClosed(): void {}
  onSuback(): void {}
  onPublish(): void {}
  onDrained(): void {}
}

/** Whether `round` (of `MESSAGES` steps) comes to allocate less than a byte a step. */
function isQuiet(round: () => void): boolean {
  let quiet = 0;
  for (let n = 0; n < ROUNDS_MAX && quiet < QUIET_ROUNDS; n += 1) {
    const before = process.memoryUsage().heapUsed;
    round();
    const growth = (process.memoryUsage().heapUsed - before) / MESSAGES;
    // A collection in the middle shows as a negative growth, which proves nothing.
    quiet = growth >= 0 && growth < 1 ? quiet + 1 : 0;
  }
  return quiet === QUIET_ROUNDS;
}

test('reading the clock allocates nothing', () => {
  const moment = new Float64Array(1);
  const round = (): void => {
    for (let n = 0; n < MESSAGES; n += 1) readMonotonicUs(moment);
  };
  expect(isQuiet(round)).toBe(true);
});

describe('the path of a QoS 1 message, publish to PUBACK', () => {
  test('allocates less than a byte a message', () => {
    const inflight = new InflightTable({ clients: CLIENTS, window: 32 });
    const handlers = new AckCounter(inflight);
    const table = new SlotTable(CLIENTS);
    table.phase.fill(Phase.connected);
    const inbound = new InboundPackets(table, handlers, {
      accepted: () => undefined,
      refused: () => undefined,
      acknowledge: () => undefined,
      giveUp: () => undefined,
      isReading: () => true,
    });
    const framer = new PacketFramer(inbound, 1_000_000);
    const outbox = new Outbox();
    const item = message('devices/1/up', 'x'.repeat(200), { qos: 1 });
    const read = Buffer.alloc(64 * 1024);

    expect(
      isQuiet(() => {
        for (let n = 0; n < MESSAGES; n += 1) {
          const slot = n % CLIENTS;
          const entry = inflight.acquire(slot);
          inflight.sentUs[entry] = n;
          item.packetId = inflight.packetId(entry);
          const at = outbox.reserve(kernel, publishSize(item));
          writePublish(outbox.slab, at, item);
          outbox.flush();
          writePuback(read, 0, item.packetId);
          framer.feed(slot, read, 4);
        }
      }),
    ).toBe(true);
    expect(handlers.acked % MESSAGES).toBe(0);
  });
});
