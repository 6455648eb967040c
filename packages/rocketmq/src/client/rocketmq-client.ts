import { AclSigner } from '../codec/acl-signer.ts';
import { Admin } from '../admin/admin.ts';
import {
  BrokerSockets,
  type BrokerSocketsEvents,
  type SocketTotals,
} from '../connections/broker-sockets.ts';
import { Requester } from '../connections/requester.ts';
import { SharedSockets } from '../connections/shared-sockets.ts';
import { ConsumerMember } from '../consumer/consumer-member.ts';
import type { ConsumerHandlers } from '../consumer/consumer-handlers.ts';
import type { ConsumerOptions } from '../consumer/consumer-options.ts';
import { Producer } from '../producer/producer.ts';
import type { ProducerHandlers } from '../producer/producer-handlers.ts';
import type { ProducerOptions } from '../producer/producer-options.ts';
import { NameServers } from '../route/name-servers.ts';
import { TopicRoutes } from '../route/topic-routes.ts';
import {
  type ClientOptions,
  CONNECT_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  REQUESTS_MAX,
  ROUTE_WAIT_MS,
  TICK_MS,
} from './client-options.ts';
import { newClientId } from './client-id.ts';
import type { ClientParts } from './client-parts.ts';

/**
 * All that a process has to do with one RocketMQ cluster. Producers share its sockets; each consumer
 * has its own, as brokers know the members of a group by their connections.
 */
export class RocketmqClient {
  readonly admin: Admin;
  readonly #parts: ClientParts;
  readonly #requesters: readonly Requester[];
  readonly #timer: NodeJS.Timeout;
  readonly #members = new Set<{ tick(): void; end(): Promise<void> }>();

  /** @throws RocketmqError ARGUMENT */
  constructor(options: ClientOptions) {
    const { readClock } = options;
    const tls = options.tls ?? null;
    const signer = options.acl ? new AclSigner(options.acl) : null;
    const connectTimeoutUs = (options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS) * 1e3;
    const requestTimeoutUs = (options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS) * 1e3;
    const asking = { tls, readClock, connectTimeoutUs, requestTimeoutUs };
    // Name servers know nothing of accounts.
    const names = new Requester({ ...asking, signer: null });
    const brokers = new Requester({ ...asking, signer });
    this.#requesters = [names, brokers];
    const now = new Float64Array(1);
    const nowUs = (): number => {
      readClock(now);
      return now[0] ?? 0;
    };
    const nameServers = new NameServers(options.nameServers, names, options.firstNameServer);
    const sockets = {
      tls,
      readClock,
      connectTimeoutUs,
      requestsMax: options.requestsMax ?? REQUESTS_MAX,
    };
    const newSockets = (perBroker: number, events: BrokerSocketsEvents): BrokerSockets =>
      new BrokerSockets({ ...sockets, perBroker }, events);
    const socketsPerBroker = options.connections ?? 1;
    this.#parts = {
      nameServers,
      routes: new TopicRoutes(nameServers, nowUs),
      requester: brokers,
      signer,
      nowUs,
      requestTimeoutUs,
      routeWaitMs: options.routeWaitMs ?? ROUTE_WAIT_MS,
      socketsPerBroker,
      shared: new SharedSockets((events) => newSockets(socketsPerBroker, events)),
      clientId: options.clientId ?? newClientId(),
      newSockets,
    };
    this.admin = new Admin(this.#parts);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /**
   * A producer of one topic, connected to the brokers of its route.
   *
   * @throws RocketmqError ROUTE, CONNECT, ARGUMENT
   */
  async produce(options: ProducerOptions, handlers: ProducerHandlers): Promise<Producer> {
    const producer = new Producer(this.#parts, options, handlers);
    this.#members.add(producer);
    try {
      await producer.start();
    } catch (error) {
      await this.#leave(producer);
      throw error;
    }
    return producer;
  }

  /**
   * A consumer of one topic: a member of its group, or the reader of fixed queues.
   *
   * @throws RocketmqError ROUTE, CONNECT, ANSWER, ARGUMENT
   */
  async consume(options: ConsumerOptions, handlers: ConsumerHandlers): Promise<ConsumerMember> {
    const consumer = new ConsumerMember(this.#parts, options, handlers);
    this.#members.add(consumer);
    try {
      await consumer.start();
    } catch (error) {
      await this.#leave(consumer);
      throw error;
    }
    return consumer;
  }

  /** What the sockets of all producers have carried. */
  get senderTotals(): SocketTotals {
    return this.#parts.shared.totals;
  }

  /** Ends all producers and consumers, and closes everything. */
  async end(): Promise<void> {
    await Promise.all([...this.#members].map((member) => this.#leave(member)));
    clearInterval(this.#timer);
    this.#parts.shared.end();
    for (const requester of this.#requesters) requester.end();
  }

  async #leave(member: { tick(): void; end(): Promise<void> }): Promise<void> {
    await member.end();
    this.#members.delete(member);
  }

  #tick(): void {
    for (const requester of this.#requesters) requester.tick();
    this.#parts.routes.tick();
    this.#parts.shared.tick();
    for (const member of this.#members) member.tick();
  }
}
