import { deflateSync } from 'node:zlib';
import { checkGroupName, checkTopicName } from '../admin/names.ts';
import type { ClientParts } from '../client/client-parts.ts';
import type { RemotingCommand } from '../codec/command.ts';
import { RequestCode } from '../codec/request-code.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { TopicRoute } from '../codec/route-data.ts';
import { UNIQUE_KEY_LENGTH, UniqueKeys } from '../codec/unique-keys.ts';
import type { BrokerSocketsEvents } from '../connections/broker-sockets.ts';
import type { Connection, Outgoing } from '../connections/connection.ts';
import { signedRequest } from '../connections/requester.ts';
import type { Answer } from '../connections/waiting-requests.ts';
import { writableQueues } from '../route/topic-queues.ts';
import { unreachable } from '../route/unreachable.ts';
import type { RouteListener } from '../route/topic-routes.ts';
import { MessageBatch } from './message-batch.ts';
import { OrderedQueues } from './ordered-queues.ts';
import { isStored, type ProducerHandlers, type Settlement } from './producer-handlers.ts';
import type { ProducerMessage } from './producer-message.ts';
import { Sent } from './producer-message.ts';
import {
  type ProducerOptions,
  type QueueChoice,
  SEND_TIMEOUT_MS,
  WAITING_MAX,
} from './producer-options.ts';
import { SendAnswers, type SettlementSink } from './send-answers.ts';
import { sendTemplates, type SendTemplates, SendVariable } from './send-templates.ts';
import { type TransactionCounts, Transactions } from './transactions.ts';
import { WriteQueues } from './write-queues.ts';

/** As official clients compress. */
const COMPRESSION_LEVEL = 5;
const HEARTBEAT_US = 30e6;
const READY_POLL_MS = 10;
const EMPTY = Buffer.alloc(0);
const VALUE_END = 2;

/**
 * Sends the messages of one topic: one request a message (or batch), as many under way as its senders
 * have tokens, each settled exactly once. Nothing is sent a second time.
 */
export class Producer implements BrokerSocketsEvents, RouteListener, SettlementSink {
  readonly #parts: ClientParts;
  readonly #options: ProducerOptions;
  readonly #handlers: ProducerHandlers;
  readonly #templates: SendTemplates;
  readonly #keys: UniqueKeys | null;
  readonly #answers = new Map<string, SendAnswers>();
  readonly #ordered: OrderedQueues | null;
  readonly #transactions: Transactions | null;
  readonly #compressFrom: number;
  readonly #outgoing: Outgoing;
  readonly #choice: QueueChoice;
  #queues: WriteQueues;
  /** By queue. */
  #answersOf: SendAnswers[] = [];
  #heartbeatDueUs = Number.POSITIVE_INFINITY;
  #ended = false;

  /** @throws RocketmqError ARGUMENT */
  constructor(parts: ClientParts, options: ProducerOptions, handlers: ProducerHandlers) {
    checkTopicName(options.topic);
    checkGroupName(options.group);
    this.#parts = parts;
    this.#options = options;
    this.#handlers = handlers;
    this.#templates = sendTemplates(options, parts.signer);
    this.#keys = (options.uniqueKeys ?? true) ? new UniqueKeys() : null;
    this.#ordered =
      options.ordered === true ? new OrderedQueues(options.waitingMax ?? WAITING_MAX) : null;
    this.#compressFrom = options.compressFromBytes ?? Number.POSITIVE_INFINITY;
    this.#choice = options.queues ?? { by: 'turn' };
    const timeoutUs = (options.timeoutMs ?? SEND_TIMEOUT_MS) * 1e3;
    this.#transactions = newTransactions(parts, options, timeoutUs);
    this.#queues = this.#newQueues([], options.firstQueue ?? Math.floor(Math.random() * 2 ** 20));
    this.#outgoing = {
      template: this.#templates.plain,
      body: EMPTY,
      bodyAt: 0,
      bodyEnd: 0,
      handler: null,
      token: 0,
      timeoutUs,
    };
  }

  /**
   * Finds the topic's route and connects; done once one of its brokers can be used.
   *
   * @throws RocketmqError ROUTE, CONNECT
   */
  async start(): Promise<void> {
    const { topic } = this.#options;
    const route = await this.#parts.routes.find(topic, this.#parts.routeWaitMs);
    this.#take(route);
    this.#parts.routes.watch(topic, route, this);
    const failures = new Map<string, string>();
    this.#startFailures = failures;
    while (!this.#queues.isConnected) {
      if (failures.size === this.#queues.addresses.length) throw unreachable(topic, failures);
      await new Promise((resolve) => {
        setTimeout(resolve, READY_POLL_MS);
      });
    }
    this.#startFailures = null;
  }

  #startFailures: Map<string, string> | null = null;

  /** Whether some broker of the topic can be used now. */
  get isConnected(): boolean {
    return this.#queues.isConnected;
  }

  /** Bytes on the way to the topic's brokers that the kernel has not taken yet; of all producers. */
  get unsentBytes(): number {
    const { shared, socketsPerBroker } = this.#parts;
    let sum = 0;
    for (const address of this.#queues.addresses) {
      for (let i = 0; i < socketsPerBroker; i += 1) {
        sum += shared.connection(address, i)?.unsentBytes ?? 0;
      }
    }
    return sum;
  }

  /** Queues that messages go to. */
  get queueCount(): number {
    return this.#queues.queues.length;
  }

  get transactionCounts(): TransactionCounts | null {
    return this.#transactions?.counts ?? null;
  }

  /** An empty batch, whose messages get the properties and ids of this producer's. */
  newBatch(): MessageBatch {
    return new MessageBatch(this.#templates.entryPrefix, this.#keys);
  }

  /**
   * Sends a message. `token`, a whole number of the caller's, comes back with its settlement; senders
   * use the sockets of a broker in turn by it.
   */
  send(token: number, message: ProducerMessage): Sent {
    const queue = this.#queues.next(message.key);
    if (this.#ordered === null) return this.#post(queue, token, message);
    if (this.#ordered.isFull) return Sent.full;
    const connection = this.#queues.connection(queue, token);
    if (connection === null) return Sent.notConnected;
    if (!this.#ordered.enter(queue, token, message)) return Sent.accepted;
    const sent = this.#post(queue, token, message);
    if (sent === Sent.accepted) this.#handlers.handedOver?.(token);
    else this.#ordered.leave(token);
    return sent;
  }

  /** Sends a batch as one request with one settlement, that of all its messages. */
  sendBatch(token: number, batch: MessageBatch, bornAtMs: number): Sent {
    const queue = this.#queues.next('');
    const template = this.#templates.batch;
    template.setNumber(SendVariable.bornAtMs, bornAtMs);
    template.setText(SendVariable.properties, 0);
    const outgoing = this.#outgoing;
    outgoing.template = template;
    outgoing.body = batch.bytes;
    outgoing.bodyAt = 0;
    outgoing.bodyEnd = batch.size;
    return this.#hand(queue, token);
  }

  settle(token: number, settlement: Settlement, answer: Answer | null): void {
    if (this.#transactions !== null) {
      const stored = isStored(settlement.outcome) && answer !== null;
      const connection = this.#connectionOf(settlement.brokerName);
      this.#transactions.settled(token, stored ? { answer, connection } : null);
    }
    if (this.#ordered !== null) this.#sendNext(token);
    this.#handlers.settled(token, settlement);
  }

  opened(address: string, index: number): void {
    this.#queues.setConnection(address, index, this.#parts.shared.connection(address, index));
    this.#heartbeat(address, index);
    this.#handlers.connected?.(address);
  }

  closed(address: string, loss: { readonly reason: string; readonly wasOpen: boolean }): void {
    this.#startFailures?.set(address, loss.reason);
    this.#connect();
    if (loss.wasOpen) this.#parts.routes.suspect();
    this.#handlers.disconnected?.(address, loss);
  }

  requested(connection: Connection, command: RemotingCommand): boolean {
    if (command.code !== RequestCode.checkTransactionState) return false;
    return this.#transactions?.checked(connection, command) ?? false;
  }

  routeChanged(_topic: string, route: TopicRoute): void {
    this.#take(route);
    this.#handlers.queuesChanged?.(this.queueCount);
  }

  routeFailed(_topic: string, error: RocketmqError): void {
    this.#handlers.routeFailed?.(error.message);
  }

  tick(): void {
    if (this.#parts.nowUs() < this.#heartbeatDueUs) return;
    for (const address of this.#queues.addresses) {
      for (let i = 0; i < this.#parts.socketsPerBroker; i += 1) this.#heartbeat(address, i);
    }
  }

  /** Sends nothing more; requests under way are not awaited. */
  end(): Promise<void> {
    this.#ended = true;
    this.#parts.routes.unwatch(this.#options.topic, this);
    this.#parts.shared.keep(this, []);
    return Promise.resolve();
  }

  #post(queue: number, token: number, message: ProducerMessage): Sent {
    const outgoing = this.#outgoing;
    const length = message.bodyEnd - message.bodyAt;
    if (length >= this.#compressFrom) {
      const plain = message.body.subarray(message.bodyAt, message.bodyEnd);
      outgoing.body = deflateSync(plain, { level: COMPRESSION_LEVEL });
      outgoing.bodyAt = 0;
      outgoing.bodyEnd = outgoing.body.length;
      outgoing.template = this.#templates.packed;
    } else {
      outgoing.body = message.body;
      outgoing.bodyAt = message.bodyAt;
      outgoing.bodyEnd = message.bodyEnd;
      outgoing.template = this.#templates.plain;
    }
    outgoing.template.setNumber(SendVariable.bornAtMs, message.bornAtMs);
    this.#writeProperties(token, message.properties);
    return this.#hand(queue, token);
  }

  /** The message's id, then what is its alone. */
  #writeProperties(token: number, own: string): void {
    const { template } = this.#outgoing;
    const keyLength = this.#keys === null ? 0 : UNIQUE_KEY_LENGTH;
    const separator = keyLength > 0 && own !== '' ? 1 : 0;
    const length = keyLength + separator + (own === '' ? 0 : Buffer.byteLength(own));
    const value = template.setText(SendVariable.properties, length);
    this.#keys?.writeNext(value, 0);
    if (separator === 1) value[keyLength] = VALUE_END;
    if (own !== '') value.write(own, keyLength + separator);
    this.#transactions?.sent(token, value.toString('latin1', 0, keyLength));
  }

  #hand(queue: number, token: number): Sent {
    const { queues } = this.#queues;
    const target = queues[queue];
    const connection = this.#queues.connection(queue, token);
    if (target === undefined || connection === null) return Sent.notConnected;
    const outgoing = this.#outgoing;
    outgoing.template.setNumber(SendVariable.queueId, target.queueId);
    const oneWay = this.#options.oneWay === true;
    outgoing.handler = oneWay ? null : (this.#answersOf[queue] ?? null);
    outgoing.token = token;
    if (!connection.post(outgoing)) return connection.isOpen ? Sent.full : Sent.notConnected;
    return oneWay ? Sent.unacknowledged : Sent.accepted;
  }

  #sendNext(token: number): void {
    const next = this.#ordered?.leave(token) ?? null;
    if (next === null) return;
    const sent = this.#post(next.queue, next.token, next.message);
    if (sent === Sent.accepted) this.#handlers.handedOver?.(next.token);
    // It was accepted before: so its end must be told.
    else this.#answersOf[next.queue]?.unanswered(next.token, 'connection lost');
  }

  #take(route: TopicRoute): void {
    if (this.#ended) return;
    const { topic } = this.#options;
    const queues = chosenQueues(writableQueues(topic, route), this.#choice);
    if (queues.length === 0) {
      const what = this.#choice.by === 'number' ? ` ${this.#choice.queueId}` : '';
      const error = new RocketmqError(
        'ROUTE',
        `topic ${topic} has no queue${what} that may be written to`,
        {
          hint: 'its permission lacks the write bit, or no master of its brokers is there',
        },
      );
      if (this.#queues.queues.length === 0) throw error;
      this.routeFailed(topic, error);
      return;
    }
    this.#queues = this.#newQueues(queues, this.#queues.turn);
    this.#answersOf = queues.map((queue) => {
      const known = this.#answers.get(queue.brokerName) ?? new SendAnswers(queue.brokerName, this);
      this.#answers.set(queue.brokerName, known);
      return known;
    });
    this.#parts.shared.keep(this, this.#queues.addresses);
    this.#connect();
    this.#heartbeatDueUs = 0;
  }

  #newQueues(queues: ReturnType<typeof writableQueues>, first: number): WriteQueues {
    const { socketsPerBroker } = this.#parts;
    return new WriteQueues(queues, { choice: this.#choice, socketsPerBroker, first });
  }

  #connect(): void {
    const { shared, socketsPerBroker } = this.#parts;
    for (const address of this.#queues.addresses) {
      for (let i = 0; i < socketsPerBroker; i += 1) {
        this.#queues.setConnection(address, i, shared.connection(address, i));
      }
    }
  }

  #connectionOf(brokerName: string): Connection | null {
    const queue = this.#queues.queues.find((each) => each.brokerName === brokerName);
    return queue === undefined ? null : this.#parts.shared.connection(queue.address);
  }

  /**
   * Keeps a socket alive, which is closed after two minutes of silence; and brokers ask a group about
   * its half messages over a connection that announced it.
   */
  #heartbeat(address: string, index: number): void {
    this.#heartbeatDueUs = this.#parts.nowUs() + HEARTBEAT_US;
    const body = {
      clientID: this.#parts.clientId,
      producerDataSet: [{ groupName: this.#options.group }],
      consumerDataSet: [],
    };
    const parts = { code: RequestCode.heartbeat, body: Buffer.from(JSON.stringify(body)) };
    const command = signedRequest(parts, this.#parts.signer);
    this.#parts.shared
      .connection(address, index)
      ?.postCommand(command, HEARTBEAT_IGNORED, this.#parts.requestTimeoutUs);
  }
}

/** A lost heartbeat is followed by the next one. */
const HEARTBEAT_IGNORED = { answered: () => undefined, unanswered: () => undefined };

function newTransactions(
  parts: ClientParts,
  options: ProducerOptions,
  timeoutUs: number,
): Transactions | null {
  const { transactions, group } = options;
  if (transactions === undefined) return null;
  if (options.uniqueKeys === false || options.oneWay === true) {
    throw new RocketmqError('ARGUMENT', 'transactions need message ids and answers');
  }
  return new Transactions({ group, options: transactions, signer: parts.signer, timeoutUs });
}

function chosenQueues(
  queues: ReturnType<typeof writableQueues>,
  choice: QueueChoice,
): ReturnType<typeof writableQueues> {
  if (choice.by !== 'number') return queues;
  return queues.filter(
    (queue) =>
      queue.queueId === choice.queueId &&
      (choice.brokerName === null || choice.brokerName === queue.brokerName),
  );
}
