// Data path: one `receive` a message.
import { STAMP_CORRUPT, STAMP_OK, type StampReader } from '../stamp/index.ts';
import { SENT } from '../stamp/layout.ts';
import { decodeUtf8 } from '../text/utf8.ts';
import { at } from './element.ts';
import { FilterRules, type FiltersOf } from './filter-rules.ts';
import type { TopicBytes } from './known-topics.ts';
import { ARRIVED_AGAIN, ARRIVED_LATE, ARRIVED_REPLAY, type PairKey } from './pair-table.ts';
import { entryStream, streamIn } from './pair-stream.ts';
import { ROUTE_OPEN, ROUTE_PAIR, ROUTE_UNKNOWN, ShareRoutes } from './share-routes.ts';
import { SHARE_AGAIN, SHARE_FULL } from './share-table.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';
import { GRANTED, QOS_SHIFT, SubscriptionStates } from './subscription-states.ts';
import {
  CORRUPTED,
  EXAMPLE_CORRUPTED,
  EXAMPLE_DUPLICATED,
  EXAMPLE_FOREIGN,
  EXAMPLE_REORDERED,
  EXAMPLE_UNEXPECTED,
  EXAMPLE_WRONG_QOS,
  EXAMPLE_WRONG_TOPIC,
  FOREIGN,
  OUTSIDE,
  QUEUED,
  REPLAYED,
  RETAINED,
  type TallyKey,
  UNASKED,
  UNSTAMPED,
  UNTRACKED,
  WRONG_QOS,
  WRONG_TOPIC,
} from './tallies.ts';
import type { TopicTurns } from './topic-turns.ts';

/** Sequence numbers end below it: a record counts one further. */
const SEQ_END = 0xffff_ffff;
const ANY_QOS = 3;

/** What is counted of single messages, with the kind of its examples. */
interface Finding {
  readonly kind: number;
  readonly example: number;
}
const FOUND_WRONG_TOPIC: Finding = { kind: WRONG_TOPIC, example: EXAMPLE_WRONG_TOPIC };
const FOUND_WRONG_QOS: Finding = { kind: WRONG_QOS, example: EXAMPLE_WRONG_QOS };
const FOUND_UNASKED: Finding = { kind: UNASKED, example: EXAMPLE_UNEXPECTED };

/** What `receive` says of a message. */
const RECEIVED_OTHER = 0;
/** Its first arrival, and one of those that the end of a run waits for. */
export const RECEIVED_AWAITED = 1;
export const RECEIVED_CORRUPTED = 2;

/** A message as it came to a subscriber. One object is used again and again. */
export interface Arrival {
  /** Of the subscriber, in the worker's order. */
  position: number;
  /** Subscribe entry of the group that the message is counted under. */
  entry: number;
  /** The worker's current stage: it owns what carries no stamp. */
  stage: number;
  /** The packet's RETAIN flag [MQTT-3.3.1-8]. */
  retained: boolean;
  /** By which QoS it came. */
  qos: number;
  readonly topic: TopicBytes;
  bytes: Uint8Array;
  payloadAt: number;
  payloadLength: number;
}

export interface SubscriberBookOptions {
  readonly group: number;
  /** Position → client index in the group. */
  readonly numbers: Uint32Array;
  readonly filtersOf: FiltersOf;
}

/** The subscribers of one group in one worker: what came to them, held against what they were granted. */
export class SubscriberBook {
  readonly states: SubscriptionStates;
  readonly #ledger: SubscriberLedger;
  readonly #firstClient: number;
  readonly #firstEntry: number;
  readonly #rules: FilterRules;
  /** Null where no filter of the group is shared. */
  readonly #routes: ShareRoutes | null;
  /** Retained copies cannot be told by their flag alone: live messages keep theirs [MQTT-3.3.1-13]. */
  readonly #asPublished: boolean;
  /** Messages say which entries they are for. */
  readonly isIdentified: boolean;
  /** Nobody asked for retained copies. */
  readonly #noCopies: boolean;
  readonly #key: PairKey = { subscriber: 0, stream: 0, stage: 0, publisher: 0 };
  readonly #place = { receiver: 0, stream: 0, stage: 0 };
  readonly #tally: TallyKey = { kind: 0, entry: 0, stage: 0, stream: -1 };
  /** The number of the message among those that its pair is about. */
  #seq = 0;
  readonly #receipt = { losses: 0, absence: 0, retained: false };

  constructor(ledger: SubscriberLedger, { group, numbers, filtersOf }: SubscriberBookOptions) {
    const { plan } = ledger;
    const filters = plan.filters[group] ?? [];
    const options = Array.from(filters, ({ entry }) => entry.spec.options);
    this.states = new SubscriptionStates(ledger, group, numbers);
    this.#ledger = ledger;
    this.#firstClient = plan.firstClient[group] ?? 0;
    this.#firstEntry = filters[0]?.entry.index ?? 0;
    this.#rules = new FilterRules(plan, group, filtersOf);
    this.isIdentified = plan.identified[group] === true;
    const shares = filters.some(({ shared }) => shared);
    const scene = { rules: this.#rules, clients: numbers.length };
    this.#routes = shares ? new ShareRoutes(ledger, filters, scene) : null;
    this.#asPublished = options.some(({ retainAsPublished }) => retainAsPublished);
    this.#noCopies = options.every(({ retainHandling }) => retainHandling === 2);
  }

  /**
   * Books a message; `outcome` is what `stamp.read` said of it. Gives one of the constants above. The
   * fields of `stamp` may be others afterwards.
   */
  receive(arrival: Arrival, stamp: StampReader, outcome: number): number {
    const { runHash } = this.#ledger;
    if (outcome === STAMP_OK) {
      if (stamp.runHash === runHash && this.#isOfPlan(stamp)) return this.#book(arrival, stamp);
      this.#foreign(arrival);
      return RECEIVED_OTHER;
    }
    const claimed = stamp.claim(arrival.bytes, arrival.payloadAt, arrival.payloadLength);
    const ours = claimed && stamp.runHash === runHash;
    // A stamp may be damaged in its first bytes, too: the name of the run still says whose it was.
    if (outcome === STAMP_CORRUPT || ours) {
      this.#corrupted(arrival, stamp, ours);
      return RECEIVED_CORRUPTED;
    }
    if (this.#ledger.someUnstamped) this.#count(arrival, UNSTAMPED, -1);
    else this.#foreign(arrival);
    return RECEIVED_OTHER;
  }

  #book(arrival: Arrival, stamp: StampReader): number {
    const ledger = this.#ledger;
    const key = this.#key;
    arrival.stage = stamp.stage;
    key.stream = at(ledger.firstParts, stamp.subject);
    key.stage = stamp.stage;
    key.publisher = stamp.publisher;
    this.#seq = stamp.seq;
    if (ledger.turns !== null) this.#takeTurn(ledger.turns[stamp.subject] ?? null, stamp);
    if (at(ledger.outside, key.stream) === 1) {
      this.#count(arrival, OUTSIDE, key.stream);
      return RECEIVED_OTHER;
    }
    key.subscriber = this.#subscriber(arrival);
    if (ledger.topics.differs(key, arrival.topic)) {
      this.#find(arrival, stamp, FOUND_WRONG_TOPIC);
    }
    if (this.#routes !== null) {
      const route = this.#routeOf(this.#routes, arrival, stamp);
      if (route !== ROUTE_PAIR) return this.#share(route, arrival, stamp);
    }
    if (this.isIdentified) key.stream = entryStream(key.stream, arrival.entry);
    return this.#pair(arrival, stamp);
  }

  /** Of a stream whose topics take turns: the part of the message, and its number there. */
  #takeTurn(turns: TopicTurns | null, { publisher, seq }: StampReader): void {
    if (turns === null) return;
    this.#key.stream += turns.topicOf(publisher, seq);
    this.#seq = turns.rankOf(publisher, seq);
  }

  #routeOf(routes: ShareRoutes, arrival: Arrival, stamp: StampReader): number {
    const { position } = arrival;
    if (this.isIdentified) return routes.findIn(arrival.entry, position, this.#topicOf(arrival));
    const route = routes.of(position, this.#key.stream, stamp.publisher);
    if (route !== ROUTE_UNKNOWN) return route;
    return routes.find(position, this.#key, this.#topicOf(arrival));
  }

  #pair(arrival: Arrival, stamp: StampReader): number {
    const { pairs } = this.#ledger;
    const { position } = arrival;
    const stream = streamIn(this.#key.stream);
    const before = pairs.count;
    const record = pairs.open(this.#key);
    if (record < 0) {
      this.#count(arrival, UNTRACKED, stream);
      return RECEIVED_OTHER;
    }
    const isNew = pairs.count !== before;
    if (isNew) this.#opened(record, arrival);
    if (!pairs.allowsQos(record, arrival.qos) && this.states.isQuoted(position)) {
      this.#find(arrival, stamp, FOUND_WRONG_QOS);
    }
    const losses = at(this.states.losses, position);
    const lossesThen = pairs.lossesOf(record);
    const receipt = this.#receipt;
    receipt.losses = losses;
    receipt.absence = losses === lossesThen ? 0 : this.states.absence(position, lossesThen, stream);
    receipt.retained =
      arrival.retained &&
      (!this.#asPublished || this.#isCopy(arrival, stamp, isNew || losses !== lossesThen));
    if (receipt.retained && this.#noCopies) {
      this.#find(arrival, stamp, FOUND_UNASKED);
      return RECEIVED_OTHER;
    }
    return this.#arrived(record, arrival, stamp);
  }

  /**
   * Whether a message that kept its flag is one that the broker kept for the subscription: sent before
   * it was granted. On another clock, what comes first after a connection is taken for one.
   */
  #isCopy({ position }: Arrival, stamp: StampReader, isFirst: boolean): boolean {
    if (stamp.clockDomain !== this.#ledger.clockDomain) return isFirst;
    return at(stamp.timesUs, SENT) < at(this.states.grantedUs, position);
  }

  #arrived(record: number, arrival: Arrival, stamp: StampReader): number {
    const { pairs } = this.#ledger;
    const receipt = this.#receipt;
    const outcome = pairs.arrive(record, this.#seq, receipt);
    if (outcome === ARRIVED_AGAIN) {
      this.#example(arrival, stamp, EXAMPLE_DUPLICATED);
      return RECEIVED_OTHER;
    }
    if (outcome === ARRIVED_REPLAY) {
      this.#count(arrival, REPLAYED, streamIn(this.#key.stream));
      return RECEIVED_OTHER;
    }
    if (outcome === ARRIVED_LATE) this.#example(arrival, stamp, EXAMPLE_REORDERED);
    if (receipt.retained) this.#count(arrival, RETAINED, streamIn(this.#key.stream));
    else this.#whetherQueued(arrival, stamp);
    return pairs.isCounted(record) ? RECEIVED_AWAITED : RECEIVED_OTHER;
  }

  /** What was sent before the connection began that resumed the session had been queued for it. */
  #whetherQueued(arrival: Arrival, stamp: StampReader): void {
    const { isResumed, resumedUs } = this.states;
    if (at(isResumed, arrival.position) === 0) return;
    if (stamp.clockDomain !== this.#ledger.clockDomain) return;
    if (at(stamp.timesUs, SENT) < at(resumedUs, arrival.position)) {
      this.#count(arrival, QUEUED, streamIn(this.#key.stream));
    }
  }

  /** The first message of a pair: what may come of it is found out once. */
  #opened(record: number, arrival: Arrival): void {
    const { pairs } = this.#ledger;
    const rules = this.#rules;
    const key = this.#key;
    const stream = streamIn(key.stream);
    rules.match(arrival.position, this.#topicOf(arrival), this.isIdentified ? arrival.entry : -1);
    const { group } = this.#ledger.plan.streams[stream] ?? { group: -1 };
    const own =
      group === this.states.group && key.publisher === at(this.states.numbers, arrival.position);
    if (key.stage >= (own ? rules.firstStageOfOwn : rules.firstStage)) pairs.setCounted(record);
    let low = ANY_QOS;
    let high = 0;
    for (const filter of rules.matched) {
      const state = at(this.states.states, arrival.position * this.states.filters + filter);
      const granted = (state & GRANTED) === 0 ? -1 : state >>> QOS_SHIFT;
      low = granted < 0 ? 0 : Math.min(low, granted);
      high = granted < 0 ? ANY_QOS : Math.max(high, granted);
    }
    const sent = this.#ledger.qosOf(stream);
    if (rules.matched.length === 0 || high === ANY_QOS) pairs.setQos(record, 0, ANY_QOS);
    else pairs.setQos(record, Math.min(sent, low), Math.min(sent, high));
  }

  #share(route: number, arrival: Arrival, stamp: StampReader): number {
    const { shares } = this.#ledger;
    const { stream } = this.#key;
    if (route === ROUTE_OPEN) {
      this.#count(arrival, OUTSIDE, stream);
      return RECEIVED_OTHER;
    }
    if (!this.#isShareQos(arrival, stream)) this.#find(arrival, stamp, FOUND_WRONG_QOS);
    const place = this.#place;
    place.receiver = route;
    place.stream = stream;
    place.stage = stamp.stage;
    const outcome = shares.arrive(shares.column(place), stamp.publisher, this.#seq);
    if (outcome === SHARE_AGAIN) this.#example(arrival, stamp, EXAMPLE_DUPLICATED);
    else if (outcome === SHARE_FULL) this.#count(arrival, UNTRACKED, stream);
    else this.#whetherQueued(arrival, stamp);
    return RECEIVED_OTHER;
  }

  /** Of one shared filter a client: whether the QoS is the lower one of published and granted. */
  #isShareQos({ position, qos }: Arrival, stream: number): boolean {
    const { filters, states } = this.states;
    const state = at(states, position);
    if (filters !== 1 || (state & GRANTED) === 0 || !this.states.isQuoted(position)) return true;
    return qos === Math.min(this.#ledger.qosOf(stream), state >>> QOS_SHIFT);
  }

  /** Where the publisher's topic is not known, the one on which the message came stands for it. */
  #topicOf({ topic }: Arrival): string {
    const { stream, publisher } = this.#key;
    const known = this.#ledger.topics.text(streamIn(stream), publisher);
    if (known !== null || topic.length < 0) return known ?? '';
    try {
      return decodeUtf8(topic.bytes.subarray(topic.from, topic.from + topic.length));
    } catch {
      // Bytes that are no text match no filter.
      return '';
    }
  }

  #corrupted(arrival: Arrival, stamp: StampReader, ours: boolean): void {
    const known = ours && this.#isOfPlan(stamp);
    if (known) arrival.stage = stamp.stage;
    this.#key.stream = known ? at(this.#ledger.firstParts, stamp.subject) : -1;
    this.#count(arrival, CORRUPTED, this.#key.stream);
    if (known) this.#example(arrival, stamp, EXAMPLE_CORRUPTED);
    else this.#nameless(arrival, EXAMPLE_CORRUPTED);
  }

  #foreign(arrival: Arrival): void {
    this.#count(arrival, FOREIGN, -1);
    this.#nameless(arrival, EXAMPLE_FOREIGN);
  }

  #isOfPlan(stamp: StampReader): boolean {
    const { stampedClients, stages } = this.#ledger;
    // Beyond the last stream there are no publishers.
    return (
      stamp.publisher < at(stampedClients, stamp.subject) &&
      stamp.stage < stages &&
      stamp.seq < SEQ_END
    );
  }

  #find(arrival: Arrival, stamp: StampReader, finding: Finding): void {
    this.#count(arrival, finding.kind, streamIn(this.#key.stream));
    this.#example(arrival, stamp, finding.example);
  }

  #count(arrival: Arrival, kind: number, stream: number): void {
    const key = this.#tally;
    key.kind = kind;
    key.entry = this.#firstEntry + arrival.entry;
    key.stage = arrival.stage;
    key.stream = stream;
    this.#ledger.tallies.add(key);
  }

  #subscriber(arrival: Arrival): number {
    return this.#firstClient + at(this.states.numbers, arrival.position);
  }

  #example(arrival: Arrival, stamp: StampReader, kind: number): void {
    const { examples } = this.#ledger;
    const stream = streamIn(this.#key.stream);
    if (!examples.wants(kind, stream)) return;
    examples.keep({
      kind,
      entry: this.#firstEntry + arrival.entry,
      stage: stamp.stage,
      stream,
      subscriber: this.#subscriber(arrival),
      publisher: stamp.publisher,
      seq: stamp.seq,
      sentUs: kind === EXAMPLE_CORRUPTED ? -1 : at(stamp.timesUs, SENT),
    });
  }

  #nameless(arrival: Arrival, kind: number): void {
    const { examples } = this.#ledger;
    if (!examples.wants(kind, -1)) return;
    const entry = this.#firstEntry + arrival.entry;
    const subscriber = this.#subscriber(arrival);
    const { stage } = arrival;
    examples.keep({ kind, entry, stage, stream: -1, subscriber, publisher: 0, seq: 0, sentUs: -1 });
  }
}
