// Data path: one choice a message.
import { element } from '../codec/bytes.ts';
import { javaHash } from '../codec/java-hash.ts';
import type { Connection } from '../connections/connection.ts';
import type { TopicQueue } from '../route/topic-queues.ts';
import type { QueueChoice } from './producer-options.ts';

/** The queues that a topic's messages go to, and the sockets that lead there. */
export class WriteQueues {
  readonly queues: readonly TopicQueue[];
  readonly addresses: readonly string[];
  readonly #socketsPerBroker: number;
  readonly #byKey: boolean;
  /** Index into `addresses`, by queue. */
  readonly #brokers: Int32Array;
  /** By broker, then socket. */
  readonly #connections: (Connection | null)[];
  #turn: number;

  constructor(
    queues: readonly TopicQueue[],
    options: { choice: QueueChoice; socketsPerBroker: number; first: number },
  ) {
    this.queues = queues;
    this.addresses = [...new Set(Array.from(queues, (queue) => queue.address))];
    this.#socketsPerBroker = options.socketsPerBroker;
    this.#byKey = options.choice.by === 'key';
    this.#brokers = Int32Array.from(queues, (queue) => this.addresses.indexOf(queue.address));
    this.#connections = this.addresses.flatMap(() =>
      Array.from({ length: options.socketsPerBroker }, () => null),
    );
    this.#turn = queues.length === 0 ? 0 : options.first % queues.length;
  }

  /** Where the walk over the queues stands. */
  get turn(): number {
    return this.#turn;
  }

  setConnection(address: string, index: number, connection: Connection | null): void {
    const broker = this.addresses.indexOf(address);
    if (broker >= 0) this.#connections[broker * this.#socketsPerBroker + index] = connection;
  }

  get isConnected(): boolean {
    return this.#connections.some(isOpen);
  }

  /** Index of the queue of the next message. A broker without connection gets nothing by turn. */
  next(key: string): number {
    const count = this.queues.length;
    if (this.#byKey) return Math.abs(javaHash(key) % count);
    for (let tried = 0; tried < count; tried += 1) {
      const index = this.#turn;
      this.#turn = index + 1 === count ? 0 : index + 1;
      if (this.#anyTo(index)) return index;
    }
    return this.#turn;
  }

  /** The socket of a queue's broker that a sender uses, or null: it is not connected. */
  connection(queue: number, sender: number): Connection | null {
    const per = this.#socketsPerBroker;
    const base = element(this.#brokers, queue) * per;
    const own = this.#connections[base + (sender % per)] ?? null;
    if (isOpen(own)) return own;
    for (let i = 0; i < per; i += 1) {
      const other = this.#connections[base + i] ?? null;
      if (isOpen(other)) return other;
    }
    return null;
  }

  #anyTo(queue: number): boolean {
    return this.connection(queue, 0) !== null;
  }
}

/** A lost one settles its requests before it is taken out here: their senders ask at once. */
function isOpen(connection: Connection | null): connection is Connection {
  return connection?.isOpen === true;
}
