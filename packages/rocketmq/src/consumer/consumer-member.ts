import { Admin } from '../admin/admin.ts';
import { checkGroupName, checkTopicName } from '../admin/names.ts';
import { newClientId } from '../client/client-id.ts';
import type { ClientParts } from '../client/client-parts.ts';
import type { RemotingCommand, RequestParts } from '../codec/command.ts';
import { RequestCode } from '../codec/request-code.ts';
import { responseName } from '../codec/response-code.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { TopicRoute } from '../codec/route-data.ts';
import type {
  BrokerSockets,
  BrokerSocketsEvents,
  SocketTotals,
} from '../connections/broker-sockets.ts';
import type { Connection } from '../connections/connection.ts';
import { answerOf, remarkOf, successOf } from '../connections/answers.ts';
import { signedRequest } from '../connections/requester.ts';
import type { Answer } from '../connections/waiting-requests.ts';
import { refusalReason } from '../producer/refusal-reasons.ts';
import { mastersOf, readableQueues, type TopicQueue } from '../route/topic-queues.ts';
import type { RouteListener } from '../route/topic-routes.ts';
import { averageShare } from './average-allocation.ts';
import {
  type ConsumerActivity,
  type ConsumerCounts,
  type ConsumerHandlers,
  newConsumerCounts,
} from './consumer-handlers.ts';
import {
  COMMIT_EVERY_MS,
  type ConsumerOptions,
  EVERY_MESSAGE,
  PULL_MAX,
  RETRIES,
  type StartFrom,
  SUSPEND_MS,
  SUSPEND_SLACK_MS,
} from './consumer-options.ts';
import { firstAlone } from './first-alone.ts';
import { firstConnections } from './first-connections.ts';
import { GroupMembership } from './group-membership.ts';
import { QueueLocks } from './queue-locks.ts';
import { QueueReader, type ReaderParts } from './queue-reader.ts';
import { SendBacks } from './send-backs.ts';
import { firstOffset, isKnownGroup, placeGroup } from './start-offset.ts';
import { heartbeatBody, retryTopicOf, tagsOf } from './subscription.ts';

const HEARTBEAT_US = 30e6;
const REBALANCE_US = 20e6;
/** After a rebalance that failed. */
const REBALANCE_RETRY_US = 1e6;

/** A consumer of one topic, with sockets of its own: brokers know members by their connections. */
export class ConsumerMember implements BrokerSocketsEvents, RouteListener {
  readonly clientId: string;
  readonly counts: ConsumerCounts = newConsumerCounts();
  readonly #parts: ClientParts;
  readonly #options: ConsumerOptions;
  readonly #handlers: ConsumerHandlers;
  readonly #admin: Admin;
  readonly #sockets: BrokerSockets;
  readonly #readerParts: ReaderParts;
  readonly #routes = new Map<string, TopicRoute>();
  readonly #readers = new Map<string, QueueReader>();
  readonly #locks: QueueLocks | null;
  readonly #isMember: boolean;
  readonly #withRetryTopic: boolean;
  readonly #membership: GroupMembership;
  #startFailures: Map<string, string> | null = null;
  #heartbeatDueUs = Number.POSITIVE_INFINITY;
  #rebalanceDueUs = Number.POSITIVE_INFINITY;
  #commitDueUs = Number.POSITIVE_INFINITY;
  #working: Promise<void> | null = null;
  /** Whether what brokers say the group committed is to be believed. */
  #committedCount = false;
  #paused = false;
  #started = false;
  #ended = false;

  /** @throws RocketmqError ARGUMENT */
  constructor(parts: ClientParts, options: ConsumerOptions, handlers: ConsumerHandlers) {
    checkTopicName(options.topic);
    checkGroupName(options.group);
    const filter = options.filter ?? EVERY_MESSAGE;
    this.clientId = options.clientId ?? newClientId();
    this.#parts = parts;
    this.#options = options;
    this.#handlers = handlers;
    this.#admin = new Admin(parts);
    this.#sockets = parts.newSockets(1, this);
    const by = options.sharing?.by ?? 'group';
    this.#isMember = by !== 'turn';
    this.#withRetryTopic = by === 'group';
    // A newer subscription replaces the group's older one.
    const subVersion = Date.now();
    const { clientId } = this;
    const ask = (address: string, request: RequestParts): Promise<RemotingCommand> =>
      this.#ask(address, request);
    this.#locks =
      options.ordered === true ? new QueueLocks({ group: options.group, clientId, ask }) : null;
    const member = { clientId, subVersion, withRetryTopic: this.#withRetryTopic };
    this.#membership = new GroupMembership({
      group: options.group,
      clientId,
      heartbeat: heartbeatBody(options, filter, member),
      sockets: this.#sockets,
      ask,
    });
    this.#readerParts = this.#newReaderParts(subVersion);
  }

  /**
   * Connects, registers with the group and begins to read.
   *
   * @throws RocketmqError ROUTE, CONNECT, ANSWER
   */
  async start(): Promise<void> {
    const { topic } = this.#options;
    const route = await this.#parts.routes.find(topic, this.#parts.routeWaitMs);
    this.#routes.set(topic, route);
    const failures = new Map<string, string>();
    this.#startFailures = failures;
    this.#keep();
    await firstConnections({ topic, sockets: this.#sockets, failures, isOver: () => this.#ended });
    this.#startFailures = null;
    this.#parts.routes.watch(topic, route, this);
    if (this.#isMember) {
      await this.#membership.beatAll();
      this.#heartbeatDueUs = this.#parts.nowUs() + HEARTBEAT_US;
    }
    if (this.#withRetryTopic) await this.#findRetryTopic();
    await this.#place();
    this.#rebalanceDueUs = Math.min(this.#rebalanceDueUs, this.#parts.nowUs() + REBALANCE_US);
    this.#commitDueUs = this.#parts.nowUs() + this.#commitEveryUs;
    await this.#rebalance();
    this.#started = true;
  }

  /** Queues that are read now. */
  get queues(): TopicQueue[] {
    return [...this.#readers.values()].map((reader) => reader.queue);
  }

  /** Messages that are stored and not taken, of the queues read here, as of their last answers. */
  get lag(): number {
    let sum = 0;
    for (const reader of this.#readers.values()) sum += reader.lag;
    return sum;
  }

  get totals(): SocketTotals {
    return this.#sockets.totals;
  }

  /**
   * The same asked of the brokers: also right while paused.
   *
   * @throws RocketmqError ANSWER (ACL 2.0 wants Get on the topic)
   */
  async queryLag(): Promise<number> {
    const readers = [...this.#readers.values()];
    const lags = await Promise.all(
      readers.map(
        async (reader) => (await this.#admin.maxOffset(reader.queue)) - reader.nextOffset,
      ),
    );
    return lags.reduce((sum, lag) => sum + Math.max(0, lag), 0);
  }

  /** Takes no more messages; membership and offsets stay. */
  pause(): void {
    this.#paused = true;
    for (const reader of this.#readers.values()) reader.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const reader of this.#readers.values()) reader.resume();
  }

  /** Writes the group's offsets to the brokers. */
  async commit(): Promise<void> {
    if (this.#isBroadcast) return;
    await firstAlone(
      [...this.#readers.values()],
      (reader) => reader.queue.address,
      (reader) => this.#commitOne(reader),
    );
  }

  /** Commits, leaves the group and closes. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#working;
    for (const topic of this.#routes.keys()) this.#parts.routes.unwatch(topic, this);
    const readers = [...this.#readers.values()];
    for (const reader of readers) reader.stop();
    await this.#try('commit', () => this.commit());
    await this.#locks?.release(readers.map((reader) => reader.queue));
    if (this.#isMember) await this.#membership.leave();
    this.#readers.clear();
    this.#sockets.end();
  }

  tick(): void {
    this.#sockets.tick();
    // The broker's notice of our own heartbeat must not start a second rebalance beside the first.
    if (this.#ended || !this.#started) return;
    for (const reader of this.#readers.values()) reader.pull();
    const nowUs = this.#parts.nowUs();
    if (nowUs >= this.#heartbeatDueUs) {
      this.#heartbeatDueUs = nowUs + HEARTBEAT_US;
      for (const address of this.#sockets.addresses) this.#beat(address);
    }
    if (nowUs >= this.#commitDueUs) {
      this.#commitDueUs = nowUs + this.#commitEveryUs;
      void this.#try('commit', () => this.commit());
    }
    if (nowUs >= this.#rebalanceDueUs && this.#working === null) {
      this.#rebalanceDueUs = nowUs + REBALANCE_US;
      this.#working = this.#try('rebalance', () => this.#rebalance()).finally(() => {
        this.#working = null;
      });
    }
  }

  opened(address: string): void {
    this.#handlers.connected?.(address);
    // Before the start is done, it does this itself.
    if (!this.#started || !this.#isMember) return;
    this.#beat(address);
    this.#rebalanceDueUs = 0;
  }

  closed(address: string, loss: { readonly reason: string; readonly wasOpen: boolean }): void {
    this.#startFailures?.set(address, loss.reason);
    if (loss.wasOpen) this.#parts.routes.suspect();
    this.#handlers.disconnected?.(address, loss);
  }

  requested(_connection: Connection, command: RemotingCommand): boolean {
    if (command.code !== RequestCode.notifyConsumerIdsChanged) return false;
    this.#rebalanceDueUs = Math.min(this.#rebalanceDueUs, 0);
    return true;
  }

  routeChanged(topic: string, route: TopicRoute): void {
    this.#routes.set(topic, route);
    this.#keep();
    this.#rebalanceDueUs = 0;
  }

  routeFailed(_topic: string, error: RocketmqError): void {
    this.#handlers.failed?.('route', error.code);
  }

  get #from(): StartFrom {
    return this.#options.from ?? { at: 'last' };
  }

  get #isBroadcast(): boolean {
    return this.#options.sharing?.by === 'broadcast';
  }

  /** Decides whether the group's committed offsets count, and gives a new group its place. */
  async #place(): Promise<void> {
    const { group, topic } = this.#options;
    if (this.#isBroadcast || this.#options.ignoreCommitted === true) return;
    this.#committedCount = true;
    if (this.#from.at === 'first' || (await isKnownGroup(this.#admin, group, topic))) return;
    const route = this.#routes.get(topic);
    const queues = route === undefined ? [] : readableQueues(topic, route);
    this.#committedCount = await placeGroup(this.#admin, queues, { group, from: this.#from });
  }

  get #commitEveryUs(): number {
    return (this.#options.commitEveryMs ?? COMMIT_EVERY_MS) * 1e3;
  }

  #newReaderParts(subVersion: number): ReaderParts {
    const { group, from } = this.#options;
    const filter = this.#options.filter ?? EVERY_MESSAGE;
    const suspendMs = this.#options.suspendMs ?? SUSPEND_MS;
    const { signer } = this.#parts;
    const sendBacks = new SendBacks({
      group,
      retries: this.#options.retries ?? RETRIES,
      signer,
      counts: this.counts,
      timeoutUs: this.#parts.requestTimeoutUs,
      failed: (reason) => this.#handlers.failed?.('send back', reason),
    });
    return {
      group,
      filter,
      tags: tagsOf(filter),
      subVersion,
      pullMax: this.#options.pullMax ?? PULL_MAX,
      suspendMs,
      timeoutUs: (suspendMs + SUSPEND_SLACK_MS) * 1e3,
      signer,
      counts: this.counts,
      notBeforeMs: from?.at === 'timestamp' ? from.timestampMs : 0,
      nowUs: this.#parts.nowUs,
      connection: (address) => this.#sockets.connection(address),
      received: (record, queue) => this.#handlers.received(record, queue),
      sendBack: (record, queue) => sendBacks.send(this.#sockets.connection(queue.address), record),
      pullFailed: (answer, why) =>
        this.#handlers.failed?.('pull', answer === null ? why : reasonOf(answer)),
    };
  }

  #beat(address: string): void {
    if (this.#isMember) void this.#try('heartbeat', () => this.#membership.beat(address));
  }

  #keep(): void {
    const masters = [...this.#routes.values()].flatMap((route) => [...mastersOf(route).values()]);
    this.#sockets.keep(masters);
  }

  /** The broker makes the group's retry topic at its first heartbeat. */
  async #findRetryTopic(): Promise<void> {
    const topic = retryTopicOf(this.#options.group);
    const route = await this.#parts.nameServers.route(topic);
    if (route === null) return;
    this.#routes.set(topic, route);
    this.#parts.routes.watch(topic, route, this);
  }

  async #rebalance(): Promise<void> {
    const before = new Set(this.#readers.keys());
    if (this.#withRetryTopic && !this.#routes.has(retryTopicOf(this.#options.group))) {
      await this.#findRetryTopic();
    }
    const wanted = await this.#share();
    const locked = await this.#locked(wanted);
    const keys = new Map(locked.map((queue) => [keyOf(queue), queue]));
    for (const [key, reader] of this.#readers) {
      if (keys.has(key) && keys.get(key)?.address === reader.queue.address) continue;
      reader.stop();
      this.#readers.delete(key);
      await this.#try('commit', () => this.#commitOne(reader));
      await this.#locks?.release([reader.queue]);
    }
    for (const [key, queue] of keys) {
      if (!this.#readers.has(key) && !this.#ended)
        await this.#try('rebalance', () => this.#startReader(queue));
    }
    const changed =
      before.size !== this.#readers.size || [...before].some((key) => !this.#readers.has(key));
    if (changed) this.#handlers.assigned?.(this.queues);
  }

  async #locked(wanted: readonly TopicQueue[]): Promise<readonly TopicQueue[]> {
    if (this.#locks === null) return wanted;
    const locked = await this.#locks.acquire(wanted);
    // Whoever read a queue before us lets go of it once it has heard of us.
    if (locked.length < wanted.length) {
      const soonUs = this.#parts.nowUs() + REBALANCE_RETRY_US;
      this.#rebalanceDueUs = Math.min(this.#rebalanceDueUs, soonUs);
    }
    return locked;
  }

  /** The queues that are ours. */
  async #share(): Promise<TopicQueue[]> {
    const sharing = this.#options.sharing ?? { by: 'group' };
    const byTopic = [...this.#routes].map(([topic, route]) => readableQueues(topic, route));
    if (sharing.by === 'broadcast') return byTopic.flat();
    if (sharing.by === 'turn') {
      return byTopic.flat().filter((_, i) => i % sharing.count === sharing.index);
    }
    const members = await this.#membership.ids();
    return byTopic.flatMap((queues) => averageShare(queues, members, this.clientId));
  }

  async #startReader(queue: TopicQueue): Promise<void> {
    const isRetry = queue.topic !== this.#options.topic;
    const from: StartFrom = isRetry ? { at: 'first' } : this.#from;
    const committed = this.#committedCount
      ? await this.#admin.committedOffset(this.#options.group, queue)
      : null;
    const offset = committed ?? (await firstOffset(this.#admin, queue, from));
    const parts = isRetry
      ? { ...this.#readerParts, filter: EVERY_MESSAGE, tags: [], notBeforeMs: 0 }
      : this.#readerParts;
    const reader = new QueueReader(queue, offset, parts);
    this.#readers.set(keyOf(queue), reader);
    // 5.x takes offsets of no group that it never saw: who does not register is seen by its first pull.
    const isSeen = this.#isMember && !this.#isBroadcast;
    if (isSeen) await this.#try('commit', () => this.#commitOne(reader));
    if (this.#paused) reader.pause();
    reader.pull();
  }

  async #commitOne(reader: QueueReader): Promise<void> {
    const { nextOffset, queue } = reader;
    if (reader.committed === nextOffset) return;
    const ext = {
      consumerGroup: this.#options.group,
      topic: queue.topic,
      queueId: String(queue.queueId),
      commitOffset: String(nextOffset),
    };
    const parts = { code: RequestCode.updateConsumerOffset, ext };
    successOf(await this.#ask(queue.address, parts), queue.address);
    reader.committed = nextOffset;
  }

  async #ask(address: string, parts: RequestParts): Promise<RemotingCommand> {
    const connection = this.#sockets.connection(address);
    if (connection === null)
      throw new RocketmqError('CLOSED', `no connection to ${address}`, { address });
    const { signer, requestTimeoutUs } = this.#parts;
    return answerOf(connection, signedRequest(parts, signer), requestTimeoutUs);
  }

  /** What fails here is told, and tried again by the next tick that it is due at. */
  async #try(during: ConsumerActivity, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof RocketmqError)) throw error;
      if (during === 'rebalance') this.#rebalanceDueUs = this.#parts.nowUs() + REBALANCE_RETRY_US;
      const { responseCode } = error;
      this.#handlers.failed?.(
        during,
        responseCode === undefined ? error.code : responseName(responseCode),
      );
    }
  }
}

function keyOf(queue: TopicQueue): string {
  return `${queue.topic}\n${queue.brokerName}\n${queue.queueId}`;
}

function reasonOf(answer: Answer): string {
  return refusalReason(answer.head.code, remarkOf(answer));
}
