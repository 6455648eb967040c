// Data path
import {
  type Arrival,
  RECEIVED_AWAITED,
  RECEIVED_CORRUPTED,
  type SubscriberBook,
} from '@squall/core/ledger/worker';
import { STAMP_NONE, STAMP_OK, StampReader } from '@squall/core/stamp';
import type { InboundPublish } from '@squall/mqtt';
import { type KnownClocks, recordDelivery } from '../measure/delivery-time.ts';
import type { Meter } from '../measure/meter.ts';
import { ARRIVED, CORRUPTED } from '../measure/series.ts';

export interface ReceiverOptions extends KnownClocks {
  readonly runHash: number;
  /** What came, message by message. */
  readonly book: SubscriberBook;
  /** Where messages of an entry, a stage and a QoS are booked. */
  meter(entry: number, stage: number, qos: 0 | 1 | 2): Meter;
  /** The stage that owns what carries no stamp. */
  currentStage(): number;
  readonly stages: number;
  /** Whether stamps may come in text form. */
  readonly seeksText: boolean;
}

/**
 * Books what subscribers get. A stamp of this run says in which stage the message was due, and when,
 * on its sender's clock.
 */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #stamp: StampReader;
  readonly #arrival: Arrival = {
    position: 0,
    entry: 0,
    stage: 0,
    retained: false,
    qos: 0,
    topic: { bytes: new Uint8Array(0), from: 0, length: 0 },
    bytes: new Uint8Array(0),
    payloadAt: 0,
    payloadLength: 0,
  };
  /** What the stamp of the last message was. */
  #outcome: number = STAMP_NONE;
  /** Meters of the stage used last, by entry × 3 + QoS: messages of one stage come in crowds. */
  readonly #meters: (Meter | undefined)[] = [];
  #meterStage = -1;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#stamp = new StampReader({ seeksText: options.seeksText });
  }

  /** Meters were opened or closed: look them up anew. */
  forget(): void {
    this.#meters.length = 0;
  }

  onPublish(position: number, entry: number, publish: InboundPublish): void {
    const { bytes, payloadAt, payloadLength, qos } = publish;
    const arrival = this.#arrival;
    const outcome = this.#stamp.read(bytes, payloadAt, payloadLength);
    this.#outcome = outcome;
    const ours = outcome === STAMP_OK && this.#stamp.runHash === this.#options.runHash;
    const stage =
      ours && this.#stamp.stage < this.#options.stages
        ? this.#stamp.stage
        : this.#options.currentStage();
    const meter = this.#meterOf(entry, stage, qosOf(qos));
    if (ours) recordDelivery(meter, this.#stamp, this.#options);
    arrival.position = position;
    arrival.entry = entry;
    arrival.stage = stage;
    arrival.retained = publish.retain;
    arrival.qos = qos;
    arrival.topic.bytes = publish.topicBytes;
    arrival.topic.from = publish.topicAt;
    arrival.topic.length = publish.topicLength;
    arrival.bytes = bytes;
    arrival.payloadAt = payloadAt;
    arrival.payloadLength = payloadLength;
    const received = this.#options.book.receive(arrival, this.#stamp, outcome);
    meter.received(payloadLength, received === RECEIVED_AWAITED ? 1 : 0);
    if (received === RECEIVED_CORRUPTED) meter.add(CORRUPTED, 1);
  }

  /**
   * The message of the last `onPublish` was for this entry, too: a broker that sends one copy names all
   * subscriptions that it is for. It was received once, and arrived at each of them.
   */
  also(entry: number): void {
    if (this.#outcome !== STAMP_OK) return;
    const arrival = this.#arrival;
    arrival.entry = entry;
    if (this.#options.book.receive(arrival, this.#stamp, STAMP_OK) !== RECEIVED_AWAITED) return;
    this.#meterOf(entry, arrival.stage, qosOf(arrival.qos)).add(ARRIVED, 1);
  }

  #meterOf(entry: number, stage: number, qos: 0 | 1 | 2): Meter {
    if (stage !== this.#meterStage) this.#meters.length = 0;
    this.#meterStage = stage;
    const place = entry * 3 + qos;
    const known = this.#meters[place];
    if (known !== undefined) return known;
    const meter = this.#options.meter(entry, stage, qos);
    this.#meters[place] = meter;
    return meter;
  }
}

function qosOf(qos: number): 0 | 1 | 2 {
  return qos === 0 ? 0 : qos === 1 ? 1 : 2;
}
