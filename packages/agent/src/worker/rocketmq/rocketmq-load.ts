import type { FailureExample, MetricName } from '@squall/core/metrics';
import type { Stage } from '@squall/core/plan';
import {
  connectRate,
  connectSchedule,
  scheduleOf,
  spacingOf,
  type StageNeeds,
} from '@squall/core/schedule';
import { CONNECTED, FAILED, IDLE, CONNECTING } from '../clients/connection-state.ts';
import { TurnWalk } from '../clients/turn-walk.ts';
import { momentOf } from '../clock.ts';
import { at, item } from '../element.ts';
import type { GroupLoad, GroupRun, PublishActivity } from '../load/group-load.ts';
import type { RocketmqServices } from '../load/group-services.ts';
import type { Meter } from '../measure/meter.ts';
import {
  CONNECT_ATTEMPTS,
  CONNECT_TIME,
  CONNECTED as CONNECTED_COUNT,
  CONNECTIONS,
  WIRE_RECEIVED,
  WIRE_SENT,
} from '../measure/series.ts';
import { ClosedLoop } from '../publish/closed-loop.ts';
import type { Feed } from '../publish/feed.ts';
import { MessageSource } from '../publish/message-source.ts';
import type { Outlet } from '../publish/outlet.ts';
import { PacedSchedule } from '../publish/paced-schedule.ts';
import type { PublishFailure } from '../publish/publish-group.ts';
import { consumedIn } from './consumed-in.ts';
import { errorReason } from './error-reason.ts';
import { GroupConsuming } from './group-consuming.ts';
import { makeMissing } from './make-missing.ts';
import { RocketmqRun } from './rocketmq-run.ts';
import { RocketmqStream } from './rocketmq-stream.ts';
import { TopicBooks } from './topic-books.ts';

/**
 * A group of RocketMQ clients. Its senders share sockets, and each has a window of its own; consumers
 * have their own sockets, as brokers know members of a group by them. A client counts as connected from
 * its turn on once the group has reached the brokers.
 */
export class RocketmqLoad implements GroupLoad {
  readonly name: string;
  readonly #services: RocketmqServices;
  readonly #states: Uint8Array;
  readonly #startedUs: Float64Array;
  readonly #streams: readonly RocketmqStream[];
  readonly #consuming: GroupConsuming;
  readonly #books: TopicBooks;
  readonly #runs: RocketmqRun[] = [];
  #coming: TurnWalk | null = null;
  #connected = 0;
  #failed = 0;
  /** Whether the brokers were reached; null: not yet. */
  #reached: boolean | null = null;
  #isReaching = false;
  #tries = 0;
  /** When the brokers are to be tried again, µs. */
  #retryUs = Number.POSITIVE_INFINITY;
  #wireSent = 0;
  #wireReceived = 0;

  /** @throws SquallError or RangeError where the group cannot be run as the plan wants it. */
  constructor(services: RocketmqServices) {
    const { group, order } = services;
    this.#services = services;
    this.name = group.name;
    this.#states = new Uint8Array(order.count);
    this.#startedUs = new Float64Array(order.count);
    this.#streams = group.publish.map((_, index) => this.#newStream(index));
    this.#books = new TopicBooks(services);
    this.#consuming = new GroupConsuming(services, {
      states: this.#states,
      example: (metric, position, reason) => this.#example(metric, position, reason),
      lost: (reason) => this.#lost(reason),
    });
  }

  get failed(): number {
    return this.#failed;
  }

  prepare(needs: StageNeeds, stage: Stage, atUs: number): void {
    const { group, groupIndex, order } = this.#services;
    // A worker without clients of the group has nothing to say to its brokers.
    if (needs.connects.has(groupIndex) && order.count > 0) {
      const schedule = connectSchedule(connectRate(stage, groupIndex, group), order.total);
      this.#coming = new TurnWalk({ order, startUs: atUs, schedule });
      void this.#reach();
    }
    this.#consuming.name(consumedIn(stage, groupIndex));
    for (const entry of needs.subscribes.get(groupIndex) ?? []) this.#consuming.want(entry);
  }

  prepared(needs: StageNeeds): boolean {
    const { groupIndex, order } = this.#services;
    if (needs.connects.has(groupIndex) && this.#connected + this.#failed < order.count)
      return false;
    const entries = [...(needs.subscribes.get(groupIndex) ?? [])];
    return this.#reached === false || entries.every((entry) => this.#consuming.settled(entry));
  }

  beginAnswering(): GroupRun[] {
    return [];
  }

  begin(): void {
    this.#consuming.resume();
  }

  beginStream(activity: PublishActivity, stage: number, clockUs: number): GroupRun {
    const { ledger, firstSubject, order, moment, plan, recorder } = this.#services;
    const stream = item(this.#streams, activity.stream);
    const { spec } = stream;
    const paced = activity.pace.kind !== 'max';
    const { subject, qos } = spec;
    const meter = recorder.meter({ kind: 'publish', subject, stage, qos });
    const book = ledger.publishers.book({
      stream: firstSubject + activity.stream,
      stage,
      numbers: order.numbers,
    });
    const options = { stage, stream, meter, book, window: activity.inflight, paced };
    const common = { order, clockUs, count: spec.count, meter, moment };
    const makeFeed = (outlet: Outlet): Feed =>
      paced
        ? new PacedSchedule({
            ...common,
            outlet,
            schedule: scheduleOf(activity.pace, order.total, spacingOf(spec, stage)),
            backlogUs: plan.backlogUs,
          })
        : new ClosedLoop({ ...common, outlet, polled: qos === 0 });
    const run = new RocketmqRun(options, makeFeed);
    stream.runs.push(run);
    this.#runs.push(run);
    return run;
  }

  isDone(): boolean {
    return true;
  }

  endTurns(): void {}

  stopWalking(): void {
    this.#coming = null;
  }

  show(stage: number): void {
    this.#meter(stage);
    this.#consuming.show(stage);
  }

  nextUs(): number {
    let next = Math.min(this.#retryUs, this.#coming?.nextUs() ?? Number.POSITIVE_INFINITY);
    for (const run of this.#runs) next = Math.min(next, run.feed.nextUs());
    for (const stream of this.#streams) next = Math.min(next, stream.nextUs());
    return Math.min(next, this.#consuming.nextUs(this.#isConnected));
  }

  work(nowUs: number): void {
    while (this.#coming !== null && this.#coming.nextUs() <= nowUs) {
      this.#come(this.#coming.take(), nowUs);
    }
    if (this.#retryUs <= nowUs) void this.#reach();
    for (const stream of this.#streams) stream.work(nowUs);
    this.#consuming.work(nowUs, this.#isConnected);
  }

  pick(beforeUs: number): void {
    for (const run of this.#runs) run.feed.pick(beforeUs);
  }

  expire(): void {
    for (const run of this.#runs) run.feed.expire();
  }

  /** The client of the protocol looks for time-outs itself. */
  scan(): void {}

  get isAwaiting(): boolean {
    return false;
  }

  flush(): void {
    for (const stream of this.#streams) stream.flush();
  }

  beforeCut(): void {
    const meter = this.#meter(this.#services.timeline.currentStage());
    meter.gauge(CONNECTIONS, this.#connected);
    const { client, booksWire } = this.#services;
    const senders = booksWire ? client.senderTotals : { bytesSent: 0, bytesReceived: 0 };
    const { sent, received } = this.#consuming.wire;
    // Sockets that are closed take their counts with them: growth is what is booked.
    const allSent = Math.max(this.#wireSent, senders.bytesSent + sent);
    const allReceived = Math.max(this.#wireReceived, senders.bytesReceived + received);
    meter.add(WIRE_SENT, allSent - this.#wireSent);
    meter.add(WIRE_RECEIVED, allReceived - this.#wireReceived);
    this.#wireSent = allSent;
    this.#wireReceived = allReceived;
    this.#consuming.beforeCut();
    for (const run of this.#runs) run.showGauges();
  }

  afterCut(): void {
    this.#consuming.afterCut();
  }

  drainOver(run: GroupRun): void {
    if (run instanceof RocketmqRun) run.drainOver();
  }

  cutOff(run: GroupRun): void {
    if (run instanceof RocketmqRun) run.cutOff();
  }

  remove(run: GroupRun): void {
    if (!(run instanceof RocketmqRun)) return;
    this.#runs.splice(this.#runs.indexOf(run), 1);
    for (const stream of this.#streams) {
      const place = stream.runs.indexOf(run);
      if (place >= 0) stream.runs.splice(place, 1);
    }
  }

  /** Sockets are closed with the client, which other groups share. */
  closeAll(): void {
    this.#states.fill(IDLE);
    this.#connected = 0;
  }

  abort(): void {
    void this.#services.client.end();
  }

  readonly lastDuties = async (): Promise<void> => {
    this.beforeCut();
    await Promise.all([this.#consuming.end(), this.#books.close(this.#streams)]);
  };

  readonly #isConnected = (position: number): boolean => at(this.#states, position) === CONNECTED;

  #newStream(index: number): RocketmqStream {
    const { group, order, context, files, firstSubject, runHash, clockDomain, moment } =
      this.#services;
    const spec = item(group.publish, index);
    const { rocketmq } = spec;
    if (rocketmq === undefined) throw new RangeError(`stream ${spec.subject} is not of RocketMQ`);
    const stamp = { runHash, clockDomain, subject: firstSubject + index };
    return new RocketmqStream({
      index,
      spec,
      rocketmq,
      source: new MessageSource({ stream: spec, order, context, files, stamp, moment }),
      context,
      numbers: order.numbers,
      states: this.#states,
      moment,
      failed: (meter, failure) => this.#failedMessage(meter, failure),
      committedLate: () => {
        const { recorder, timeline } = this.#services;
        const { subject, qos } = spec;
        recorder
          .meter({ kind: 'publish', subject, stage: timeline.currentStage(), qos })
          .fail('transactions', 'committed when asked');
      },
      pump: (position) => this.#pump(position),
    });
  }

  #come(position: number, nowUs: number): void {
    if (at(this.#states, position) === FAILED) return;
    this.#states[position] = CONNECTING;
    this.#startedUs[position] = nowUs;
    this.#meter(this.#services.timeline.currentStage()).add(CONNECT_ATTEMPTS, 1);
    if (this.#reached === true) this.#welcome(position);
    else if (this.#reached === false) this.#giveUp(position);
  }

  #welcome(position: number): void {
    this.#states[position] = CONNECTED;
    this.#connected += 1;
    const meter = this.#meter(this.#services.timeline.currentStage());
    meter.add(CONNECTED_COUNT, 1);
    meter.elapsed(CONNECT_TIME, this.#startedUs, position);
    this.#pump(position);
  }

  #giveUp(position: number): void {
    this.#states[position] = FAILED;
    this.#failed += 1;
    for (const run of this.#runs) run.feed.giveUp(position);
  }

  /** Finds the brokers, and makes what the group sends by. */
  async #reach(): Promise<void> {
    if (this.#isReaching || this.#reached !== null) return;
    this.#isReaching = true;
    this.#retryUs = Number.POSITIVE_INFINITY;
    this.#tries += 1;
    try {
      await this.#connect();
      this.#reached = true;
      this.#eachConnecting((position) => this.#welcome(position));
    } catch (error) {
      this.#notReached(errorReason(error));
    }
    this.#isReaching = false;
    this.#services.wake();
  }

  async #connect(): Promise<void> {
    const { client, group, context } = this.#services;
    await makeMissing(this.#services, (what) =>
      this.#meter(this.#services.timeline.currentStage()).fail('made', what),
    );
    for (const stream of this.#streams) {
      await this.#books.begin(stream);
      const options = stream.producerOptions(`${context.run}-${group.name}`);
      const producer = await client.produce(options, {
        settled: (token, settlement) => {
          stream.settled(token, settlement);
          this.#services.wake();
        },
        handedOver: (token) => stream.handedOver(token),
        connected: () => this.#pumpAll(),
        disconnected: (_address, { reason, wasOpen }) => {
          if (wasOpen) this.#lost(reason);
        },
      });
      stream.use(producer);
    }
    if (this.#streams.length === 0) await client.admin.masters();
  }

  #notReached(reason: string): void {
    const { group, moment } = this.#services;
    const { retries, backoffMinUs, backoffMaxUs } = group.connect;
    const meter = this.#meter(this.#services.timeline.currentStage());
    const isLast = this.#tries > retries;
    this.#eachConnecting((position) => {
      meter.fail('connect_failed', reason);
      this.#example('connect_failed', position, reason);
      if (isLast) this.#giveUp(position);
      else meter.add(CONNECT_ATTEMPTS, 1);
    });
    if (isLast) this.#reached = false;
    else {
      const delayUs = Math.min(backoffMaxUs, backoffMinUs * 2 ** (this.#tries - 1));
      this.#retryUs = momentOf(moment) + delayUs;
    }
  }

  #eachConnecting(act: (position: number) => void): void {
    for (let position = 0; position < this.#states.length; position++) {
      if (at(this.#states, position) === CONNECTING) act(position);
    }
  }

  #pump(position: number): void {
    for (const run of this.#runs) run.feed.pump(position);
  }

  #pumpAll(): void {
    for (let position = 0; position < this.#states.length; position++) this.#pump(position);
    this.#services.wake();
  }

  #lost(reason: string): void {
    this.#meter(this.#services.timeline.currentStage()).fail('disconnected', reason);
    this.#example('disconnected', 0, reason);
  }

  #failedMessage(meter: Meter, { metric, reason, position, n }: PublishFailure): void {
    meter.fail(metric, reason, n);
    this.#exampleOf({ metric, subject: meter.key.subject, reason }, position);
  }

  #meter(stage: number): Meter {
    return this.#services.recorder.meter({ kind: 'connections', subject: this.name, stage });
  }

  #example(metric: MetricName, position: number, reason: string): void {
    this.#exampleOf({ metric, subject: this.name, reason }, position);
  }

  #exampleOf(
    { metric, subject, reason }: Pick<FailureExample, 'metric' | 'subject' | 'reason'>,
    position: number,
  ): void {
    const { recorder, moment, timeline, order, context, target } = this.#services;
    if (!recorder.wantsExample(metric, subject, reason)) return;
    const atUs = timeline.sinceStart(momentOf(moment));
    context.n = at(order.numbers, position);
    const client = `${context.run}-${this.name}-${context.n + 1}`;
    const address = target.nameServers[0] ?? '';
    recorder.example({ metric, subject, reason, client, address, atUs });
  }
}
