// Data path
import type { Buffer } from 'node:buffer';
import {
  type Arrival,
  RECEIVED_AWAITED,
  RECEIVED_CORRUPTED,
  type SubscriberBook,
} from '@squall/core/ledger/worker';
import { STAMP_OK, StampReader } from '@squall/core/stamp';
import { type RecordReader, plainBody } from '@squall/rocketmq';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import { type KnownClocks, recordDelivery } from '../measure/delivery-time.ts';
import type { Meter } from '../measure/meter.ts';
import { BORN_TIME, CORRUPTED, STORED_TIME } from '../measure/series.ts';
import { QueueOrder } from './queue-order.ts';

export interface RocketmqReceiverOptions extends KnownClocks {
  readonly moment: Moment;
  readonly runHash: number;
  readonly book: SubscriberBook;
  meter(entry: number, stage: number): Meter;
  currentStage(): number;
  /** QoS of the plan's streams, by the number in stamps: one-way messages come as they were sent. */
  readonly qosOf: Uint8Array;
  readonly seeksText: boolean;
}

/** Where a record came to. */
export interface RecordPlace {
  readonly position: number;
  readonly entry: number;
  /** Number of the queue among those of its reader, where the order within queues counts; else -1. */
  readonly queue: number;
  /** Whether it came from the retry topic of its group. */
  readonly isRetry: boolean;
}

/** Bit of `sysFlag`: the body is packed. */
const COMPRESSED = 1;
const OUT_OF_ORDER = 'out of order';

/** Books what consumers get: as `Receiver` does for MQTT, and by the wall clocks of RocketMQ. */
export class RocketmqReceiver {
  readonly #options: RocketmqReceiverOptions;
  readonly #stamp: StampReader;
  readonly #order = new QueueOrder();
  readonly #fromUs = new Float64Array(1);
  readonly #meters: (Meter | undefined)[] = [];
  #meterStage = -1;
  readonly #arrival: Arrival = {
    position: 0,
    entry: 0,
    stage: 0,
    retained: false,
    qos: 1,
    topic: { bytes: new Uint8Array(0), from: 0, length: 0 },
    bytes: new Uint8Array(0),
    payloadAt: 0,
    payloadLength: 0,
  };

  constructor(options: RocketmqReceiverOptions) {
    this.#options = options;
    this.#stamp = new StampReader({ seeksText: options.seeksText });
  }

  /** Meters were opened or closed: look them up anew. */
  forget(): void {
    this.#meters.length = 0;
  }

  /** Books a record; whether its stamp is of this run. */
  receive(record: RecordReader, place: RecordPlace): boolean {
    const arrival = this.#arrival;
    this.#locate(record);
    const { book, runHash } = this.#options;
    const stamp = this.#stamp;
    const outcome = stamp.read(arrival.bytes, arrival.payloadAt, arrival.payloadLength);
    const ours = outcome === STAMP_OK && stamp.runHash === runHash;
    // Consuming is what a stage does: what is read in it is its own, whenever it was sent.
    const stage = this.#options.currentStage();
    const meter = this.#meterOf(place.entry, stage);
    this.#wallTimes(record, meter);
    if (ours) recordDelivery(meter, this.#stamp, this.#options);
    if (ours && place.queue >= 0 && !place.isRetry && !this.#order.isNext(place.queue, stamp)) {
      meter.fail('offset_faults', OUT_OF_ORDER);
    }
    arrival.position = place.position;
    arrival.entry = place.entry;
    arrival.stage = stage;
    arrival.qos = ours ? at(this.#options.qosOf, stamp.subject) : 1;
    arrival.topic.bytes = record.bytes;
    arrival.topic.from = record.topicAt;
    arrival.topic.length = place.isRetry ? -1 : record.topicEnd - record.topicAt;
    const { payloadLength } = arrival;
    const received = book.receive(arrival, stamp, outcome);
    meter.received(payloadLength, received === RECEIVED_AWAITED ? 1 : 0);
    if (received === RECEIVED_CORRUPTED) meter.add(CORRUPTED, 1);
    return ours;
  }

  /** Where the body lies, unpacked where it is packed. One that cannot be is booked as it is. */
  #locate(record: RecordReader): void {
    const arrival = this.#arrival;
    arrival.bytes = record.bytes;
    arrival.payloadAt = record.bodyAt;
    arrival.payloadLength = record.bodyEnd - record.bodyAt;
    if ((record.sysFlag & COMPRESSED) === 0) return;
    const body = unpacked(record);
    if (body === null) return;
    arrival.bytes = body;
    arrival.payloadAt = 0;
    arrival.payloadLength = body.length;
  }

  /** Wall clocks of other hosts against that of ours: their difference is in these times. */
  #wallTimes(record: RecordReader, meter: Meter): void {
    const nowMs = Date.now();
    const nowUs = momentOf(this.#options.moment);
    this.#fromUs[0] = nowUs - (nowMs - record.bornAtMs) * 1_000;
    meter.elapsed(BORN_TIME, this.#fromUs, 0);
    this.#fromUs[0] = nowUs - (nowMs - record.storedAtMs) * 1_000;
    meter.elapsed(STORED_TIME, this.#fromUs, 0);
  }

  #meterOf(entry: number, stage: number): Meter {
    if (stage !== this.#meterStage) {
      this.#meters.length = 0;
      this.#meterStage = stage;
    }
    const known = this.#meters[entry];
    if (known !== undefined) return known;
    const meter = this.#options.meter(entry, stage);
    this.#meters[entry] = meter;
    return meter;
  }
}

function unpacked(record: RecordReader): Buffer | null {
  try {
    return plainBody(record);
  } catch {
    return null;
  }
}
