import { describe, expect, test } from 'vitest';
import { InboundPackets } from '../src/clients/inbound-packets.ts';
import { Outbox } from '../src/transport/outbox.ts';
import { Phase, SlotTable } from '../src/clients/slot-table.ts';
import { createWire } from '../src/clients/wire/create-wire.ts';
import { PUBACK, PUBCOMP, PUBREC, writeAck } from '../src/codec/ack-packet.ts';
import { encodePublishProperties } from '../src/codec/properties/write-properties.ts';
import type { ProtocolVersion } from '../src/codec/protocol-version.ts';
import { PacketFramer } from '../src/codec/packet-framer.ts';
import { type ClientHandlers, InflightTable, readMonotonicUs } from '../src/index.ts';
import type { Transport } from '../src/transport/transport.ts';
import { FrameReader } from '../src/transport/ws/frame-reader.ts';
import { writeFrame } from '../src/transport/ws/frame-writer.ts';
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
  reset: () => undefined,
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
  onPubrec(slot: number, packetId: number): boolean {
    return this.#table.settle(slot, packetId) >= 0;
  }
  onPubcomp(slot: number, packetId: number): void {
    this.onPuback(slot, packetId);
  }
  onConnected(): void {}
  onConnectFailed(): void {}
  onClosed(): void {}
  onSuback(): void {}
  onUnsuback(): void {}
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

describe('frames of a WebSocket', () => {
  test('are written and read without an allocation', () => {
    const slab = Buffer.alloc(1_024);
    const publish = Buffer.alloc(240, 'x');
    const frame = { opcode: 2, payload: publish };
    const read = Buffer.alloc(64 * 1024);
    const puback = Buffer.from([0x82, 4, 0x40, 2, 0, 1]);
    const reader = new FrameReader({ pinged: () => undefined });
    let carried = 0;
    expect(
      isQuiet(() => {
        for (let n = 0; n < MESSAGES; n += 1) {
          writeFrame(slab, n % 100, frame);
          puback.copy(read);
          carried += reader.read(read, puback.length);
        }
      }),
    ).toBe(true);
    expect(carried % (4 * MESSAGES)).toBe(0);
    expect(reader.fault).toBeNull();
  });
});

describe('the path of a message, publish to its last acknowledgement', () => {
  test.each<[ProtocolVersion, 1 | 2]>([
    ['3.1.1', 1],
    ['3.1.1', 2],
    ['5', 1],
    ['5', 2],
  ])('MQTT %s, QoS %i: allocates less than a byte a message', (version, qos) => {
    const inflight = new InflightTable({ clients: CLIENTS, window: 32 });
    const handlers = new AckCounter(inflight);
    const table = new SlotTable(CLIENTS);
    table.phase.fill(Phase.connected);
    const wire = createWire(version, CLIENTS);
    for (let slot = 0; slot < CLIENTS; slot += 1) {
      wire.begin(slot, 0);
      wire.allowAliases(slot, 10);
    }
    const control = {
      accepted: () => undefined,
      refused: () => undefined,
      authenticate: () => undefined,
      answer: () => undefined,
      giveUp: () => undefined,
      isReading: () => true,
    };
    const framer = new PacketFramer(
      new InboundPackets({ table, handlers, control, wire }),
      1_000_000,
    );
    const outbox = new Outbox();
    const properties = encodePublishProperties({ contentType: 'text/plain' });
    const item = message('devices/1/up', 'x'.repeat(200), { qos, properties, aliases: 1 });
    const read = Buffer.alloc(64 * 1024);
    const ack = { header: 0, packetId: 0, reasonCode: 0 };

    expect(
      isQuiet(() => {
        for (let n = 0; n < MESSAGES; n += 1) {
          const slot = n % CLIENTS;
          const entry = inflight.acquire(slot);
          inflight.sentUs[entry] = n;
          item.packetId = inflight.packetId(entry);
          const at = outbox.reserve(kernel, wire.publishSize(slot, item));
          wire.writePublish(outbox.slab, at, item);
          outbox.flush();
          ack.packetId = item.packetId;
          ack.header = qos === 1 ? PUBACK : PUBREC;
          writeAck(read, 0, ack);
          ack.header = PUBCOMP;
          writeAck(read, 4, ack);
          framer.feed(slot, read, qos === 1 ? 4 : 8);
        }
      }),
    ).toBe(true);
    expect(handlers.acked).toBeGreaterThan(0);
    expect(handlers.acked % MESSAGES).toBe(0);
  });
});

describe('the path of a received message', () => {
  test.each<[ProtocolVersion, 0 | 1 | 2]>([
    ['3.1.1', 1],
    ['3.1.1', 2],
    ['5', 0],
    ['5', 2],
  ])('MQTT %s, QoS %i: allocates less than a byte a message', (version, qos) => {
    const table = new SlotTable(CLIENTS);
    table.phase.fill(Phase.connected);
    table.receiveMaximum.fill(65_535);
    const handlers = new AckCounter(new InflightTable({ clients: 1, window: 1 }));
    const wire = createWire(version, CLIENTS);
    let answers = 0;
    const control = {
      accepted: () => undefined,
      refused: () => undefined,
      authenticate: () => undefined,
      answer: () => {
        answers += 1;
      },
      giveUp: () => undefined,
      isReading: () => true,
    };
    const framer = new PacketFramer(
      new InboundPackets({ table, handlers, control, wire }),
      1_000_000,
    );
    const properties = encodePublishProperties({ messageExpiryInterval: 7, responseTopic: 'r' });
    const item = message('devices/1/up', 'x'.repeat(200), { qos, packetId: 7, properties });
    const read = Buffer.alloc(1_000);
    const size = wire.publishSize(0, item);
    wire.writePublish(read, 0, item);
    writeAck(read, size, { header: 0x62, packetId: 7 });

    expect(
      isQuiet(() => {
        for (let n = 0; n < MESSAGES; n += 1) {
          framer.feed(n % CLIENTS, read, qos === 2 ? size + 4 : size);
        }
      }),
    ).toBe(true);
    expect(answers % (MESSAGES * Math.max(1, qos))).toBe(0);
  });
});
