import type { SubscriberBook } from '@squall/core/ledger/worker';
import type { ConsumeSpec, SubscribeEntry } from '@squall/core/plan';
import { compileTemplate } from '@squall/core/template';
import type { ConsumerMember, ConsumerOptions, TopicQueue } from '@squall/rocketmq';
import { momentOf } from '../clock.ts';
import { at, item } from '../element.ts';
import type { RocketmqServices } from '../load/group-services.ts';
import type { Meter } from '../measure/meter.ts';
import { DRAIN_TIME, LAG, SUBSCRIBE_TIME, SUBSCRIBED, UNREAD } from '../measure/series.ts';
import { errorReason } from './error-reason.ts';
import { RocketmqReceiver } from './rocketmq-receiver.ts';

const FAILED_BY_PLAN = 'failed by the plan';

/** One consumer: a client of the group at an entry. */
interface Consumer {
  readonly position: number;
  readonly entry: number;
  member: ConsumerMember | null;
  tries: number;
  /** When it is to be tried (again), µs; Infinity while it is starting or running. */
  dueUs: number;
  startedUs: number;
  isSettled: boolean;
  /** What was booked of its counts. */
  gaps: number;
  repeats: number;
  moved: number;
  /** Messages so far, for those that are to fail. */
  failing: number;
  /** As the brokers told it last, while it is paused. */
  pausedLag: number;
  /** It reads again since then, µs, with a backlog before it; 0: it does not. */
  drainsSinceUs: number;
  /** Messages that it had read by then. */
  drainsFrom: number;
  isAsking: boolean;
}

interface Around {
  readonly states: Uint8Array;
  example(metric: 'subscribe_failed' | 'consume_failed', position: number, reason: string): void;
  lost(reason: string): void;
}

/** What the clients of a group consume: their members, pauses, receipts and lag. */
export class GroupConsuming {
  readonly entries: readonly SubscribeEntry[];
  readonly #services: RocketmqServices;
  readonly #around: Around;
  readonly #book: SubscriberBook;
  readonly #receiver: RocketmqReceiver;
  readonly #consumers: Consumer[] = [];
  readonly #wanted = new Set<number>();
  /** Entries that the current stage names. */
  #active: ReadonlySet<number> = new Set();
  /** Messages that were sent back, less those that came again. */
  #sentBack = 0;
  #ended = false;

  constructor(services: RocketmqServices, around: Around) {
    const { group, plan, order } = services;
    this.#services = services;
    this.#around = around;
    this.entries = group.subscribe;
    const filters = group.subscribe.map(({ topics }) => topics.map(compileTemplate));
    this.#book = services.ledger.subscribers.book(
      services.groupIndex,
      order.numbers,
      (position) => {
        services.context.n = at(order.numbers, position);
        return filters.flatMap((each) => each.map((filter) => filter.render(services.context)));
      },
    );
    this.#receiver = new RocketmqReceiver({
      moment: services.moment,
      book: this.#book,
      runHash: services.runHash,
      clockDomain: services.clockDomain,
      peers: services.peers,
      qosOf: Uint8Array.from(plan.groups.flatMap(({ publish }) => publish.map(({ qos }) => qos))),
      seeksText: plan.groups.some(({ publish }) =>
        publish.some(({ payload, verify }) => verify && payload.kind !== 'size'),
      ),
      currentStage: () => services.timeline.currentStage(),
      meter: (entry, stage) => this.#receiveMeter(entry, stage),
    });
  }

  /** Every client of the group is to consume by this entry, from when it is connected. */
  want(entry: number): void {
    if (this.#wanted.has(entry)) return;
    this.#wanted.add(entry);
    const { order, moment } = this.#services;
    for (let position = 0; position < order.count; position++) {
      this.#consumers.push(newConsumer(position, entry, momentOf(moment)));
    }
  }

  /** Whether all consumers of the entry run or finally failed. */
  settled(entry: number): boolean {
    return this.#consumers.every((each) => each.entry !== entry || each.isSettled);
  }

  /** The stage that was entered names these entries; those that it does not name pause. */
  name(active: ReadonlySet<number>): void {
    this.#active = active;
    for (const { member, entry } of this.#consumers) if (!active.has(entry)) member?.pause();
  }

  /** The stage's clock starts: what it names reads on. */
  resume(): void {
    const nowUs = momentOf(this.#services.moment);
    for (const consumer of this.#consumers) {
      const { member, entry, pausedLag } = consumer;
      if (member === null || !this.#active.has(entry)) continue;
      if (pausedLag > 0) {
        consumer.drainsSinceUs = nowUs;
        consumer.drainsFrom = member.counts.messages;
      }
      consumer.pausedLag = 0;
      member.resume();
    }
  }

  nextUs(isConnected: (position: number) => boolean): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { position, dueUs } of this.#consumers) {
      if (dueUs < next && isConnected(position)) next = dueUs;
    }
    return next;
  }

  /** Starts consumers that are due. */
  work(nowUs: number, isConnected: (position: number) => boolean): void {
    for (const consumer of this.#consumers) {
      if (consumer.dueUs <= nowUs && isConnected(consumer.position)) void this.#start(consumer);
    }
  }

  show(stage: number): void {
    const { recorder } = this.#services;
    for (const [entry, { subject }] of this.entries.entries()) {
      recorder.meter({ kind: 'subscribe', subject, stage });
      this.#receiveMeter(entry, stage);
    }
  }

  beforeCut(): void {
    const stage = this.#services.timeline.currentStage();
    const lags = new Map<number, number>();
    for (const consumer of this.#consumers) {
      const { member, entry } = consumer;
      if (member === null) continue;
      const meter = this.#receiveMeter(entry, stage);
      this.#bookCounts(consumer, member, meter);
      this.#bookDrain(consumer, member, meter);
      lags.set(entry, (lags.get(entry) ?? 0) + this.#lagOf(consumer, member));
    }
    for (const [entry, lag] of lags) this.#receiveMeter(entry, stage).gauge(LAG, lag);
  }

  afterCut(): void {
    this.#receiver.forget();
  }

  /** Bytes on the sockets of the consumers. */
  get wire(): { readonly sent: number; readonly received: number } {
    let sent = 0;
    let received = 0;
    for (const { member } of this.#consumers) {
      sent += member?.totals.bytesSent ?? 0;
      received += member?.totals.bytesReceived ?? 0;
    }
    return { sent, received };
  }

  /** Asks what is left, commits, and leaves the groups. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await Promise.all(this.#consumers.map((consumer) => this.#end(consumer)));
  }

  async #end(consumer: Consumer): Promise<void> {
    const { member } = consumer;
    if (member === null) return;
    member.pause();
    consumer.pausedLag = await member.queryLag().catch(() => member.lag);
    const stage = this.#services.timeline.currentStage();
    this.#receiveMeter(consumer.entry, stage).add(UNREAD, consumer.pausedLag);
    // What the group has not read is not lost: the topic's queues hold it, or its retry topic.
    if (consumer.pausedLag > 0 || this.#sentBack !== 0 || isFiltered(this.#spec(consumer))) {
      this.#book.states.unsubscribed(consumer.position, consumer.entry);
    }
    await member.end();
  }

  async #start(consumer: Consumer): Promise<void> {
    const { client, group, moment } = this.#services;
    const { position, entry } = consumer;
    consumer.dueUs = Number.POSITIVE_INFINITY;
    consumer.tries += 1;
    consumer.startedUs = momentOf(moment);
    try {
      const member = await client.consume(this.#options(consumer), {
        received: (record, queue) => this.#received(consumer, record, queue),
        failed: (during, reason) => this.#consumeFailed(position, entry, `${during}: ${reason}`),
        disconnected: (_address, { reason, wasOpen }) => {
          if (wasOpen) this.#around.lost(reason);
        },
      });
      this.#started(consumer, member);
    } catch (error) {
      const reason = errorReason(error);
      this.#subscribeMeter(entry).fail('subscribe_failed', reason);
      this.#around.example('subscribe_failed', position, reason);
      const { retries, backoffMinUs, backoffMaxUs } = group.connect;
      if (consumer.tries > retries) consumer.isSettled = true;
      else {
        const delayUs = Math.min(backoffMaxUs, backoffMinUs * 2 ** (consumer.tries - 1));
        consumer.dueUs = momentOf(moment) + delayUs;
      }
    }
    this.#services.wake();
  }

  #started(consumer: Consumer, member: ConsumerMember): void {
    const { position, entry, startedUs } = consumer;
    if (this.#ended) {
      void member.end();
      return;
    }
    consumer.member = member;
    consumer.isSettled = true;
    // Stages say when it reads.
    if (!this.#active.has(entry)) member.pause();
    this.#book.states.connected(position, false, 0);
    this.#book.states.granted(position, entry, 1);
    const meter = this.#subscribeMeter(entry);
    meter.add(SUBSCRIBED, 1);
    meter.elapsed(SUBSCRIBE_TIME, Float64Array.of(startedUs), 0);
  }

  #options({ position, entry }: Consumer): ConsumerOptions {
    const spec = this.#spec({ entry });
    const { context, order } = this.#services;
    const rendered = (text: string): string => compileTemplate(text).render(context);
    const { sql, tags } = spec;
    return {
      topic: rendered(spec.topic),
      group: rendered(spec.group),
      sharing: sharingOf(spec, at(order.numbers, position), order.total),
      filter:
        sql !== null
          ? { type: 'SQL92', expression: sql }
          : { type: 'TAG', expression: tags.length === 0 ? '*' : tags.join(' || ') },
      from: spec.from,
      ordered: spec.ordered,
      pullMax: spec.batch,
      retries: spec.retries,
    };
  }

  /** Whether consuming it went well. */
  #received(
    consumer: Consumer,
    record: Parameters<RocketmqReceiver['receive']>[0],
    queue: TopicQueue,
  ): boolean {
    const { position, entry } = consumer;
    const spec = this.#spec(consumer);
    const isRetry = queue.topic.startsWith('%RETRY%');
    if (spec.failShare > 0 && !isRetry) {
      consumer.failing += spec.failShare;
      if (consumer.failing >= 1) {
        consumer.failing -= 1;
        this.#sentBack += 1;
        this.#consumeFailed(position, entry, FAILED_BY_PLAN);
        return false;
      }
    }
    const number = spec.ordered ? this.#numberOf(queue) : -1;
    const ours = this.#receiver.receive(record, { position, entry, queue: number, isRetry });
    if (isRetry && ours) this.#sentBack -= 1;
    return true;
  }

  readonly #queueNumbers = new Map<TopicQueue, number>();

  #numberOf(queue: TopicQueue): number {
    const known = this.#queueNumbers.get(queue);
    if (known !== undefined) return known;
    const number = this.#queueNumbers.size;
    this.#queueNumbers.set(queue, number);
    return number;
  }

  #bookCounts(consumer: Consumer, { counts }: ConsumerMember, meter: Meter): void {
    meter.fail('offset_faults', 'gap', counts.gaps - consumer.gaps);
    meter.fail('offset_faults', 'repeat', counts.repeats - consumer.repeats);
    meter.fail('offset_faults', 'moved by the broker', counts.offsetsMoved - consumer.moved);
    consumer.gaps = counts.gaps;
    consumer.repeats = counts.repeats;
    consumer.moved = counts.offsetsMoved;
  }

  /** Its first answer tells a member what is before it. */
  #bookDrain(consumer: Consumer, member: ConsumerMember, meter: Meter): void {
    if (consumer.drainsSinceUs === 0 || member.lag > 0) return;
    if (member.counts.messages === consumer.drainsFrom) return;
    meter.elapsed(DRAIN_TIME, Float64Array.of(consumer.drainsSinceUs), 0);
    consumer.drainsSinceUs = 0;
  }

  /** A paused member hears nothing of its queues: the brokers are asked. */
  #lagOf(consumer: Consumer, member: ConsumerMember): number {
    if (this.#ended) return consumer.pausedLag;
    if (this.#active.has(consumer.entry)) return member.lag;
    void this.#askLag(consumer, member);
    return consumer.pausedLag;
  }

  async #askLag(consumer: Consumer, member: ConsumerMember): Promise<void> {
    if (consumer.isAsking) return;
    consumer.isAsking = true;
    try {
      consumer.pausedLag = await member.queryLag();
    } catch (error) {
      this.#consumeFailed(consumer.position, consumer.entry, `lag: ${errorReason(error)}`);
    } finally {
      consumer.isAsking = false;
    }
  }

  #consumeFailed(position: number, entry: number, reason: string): void {
    const stage = this.#services.timeline.currentStage();
    this.#receiveMeter(entry, stage).fail('consume_failed', reason);
    if (reason !== FAILED_BY_PLAN) this.#around.example('consume_failed', position, reason);
  }

  #spec({ entry }: Pick<Consumer, 'entry'>): ConsumeSpec {
    const { consume } = item(this.entries, entry);
    if (consume === undefined) throw new RangeError(`entry ${entry} does not consume`);
    return consume;
  }

  #subscribeMeter(entry: number): Meter {
    const { recorder, timeline } = this.#services;
    const { subject } = item(this.entries, entry);
    return recorder.meter({ kind: 'subscribe', subject, stage: timeline.currentStage() });
  }

  #receiveMeter(entry: number, stage: number): Meter {
    const { subject, qos } = item(this.entries, entry);
    return this.#services.recorder.meter({ kind: 'receive', subject, stage, qos });
  }
}

function newConsumer(position: number, entry: number, dueUs: number): Consumer {
  return {
    position,
    entry,
    member: null,
    tries: 0,
    dueUs,
    startedUs: 0,
    isSettled: false,
    gaps: 0,
    repeats: 0,
    moved: 0,
    failing: 0,
    pausedLag: 0,
    drainsSinceUs: 0,
    drainsFrom: 0,
    isAsking: false,
  };
}

function sharingOf(
  { broadcast, fixed }: ConsumeSpec,
  index: number,
  count: number,
): NonNullable<ConsumerOptions['sharing']> {
  if (broadcast) return { by: 'broadcast' };
  return fixed ? { by: 'turn', index, count } : { by: 'group' };
}

/** Of what the topic holds it gets only a part, so what did not come says nothing. */
function isFiltered({ tags, sql }: ConsumeSpec): boolean {
  return tags.length > 0 || sql !== null;
}
