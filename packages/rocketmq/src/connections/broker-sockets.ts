import type { RemotingCommand } from '../codec/command.ts';
import { Connection, type ConnectionEvents, type ReadClock } from './connection.ts';
import type { TlsSettings } from './tls-settings.ts';

export interface BrokerSocketsOptions {
  /** Sockets to each broker. */
  readonly perBroker: number;
  readonly tls: TlsSettings | null;
  readonly readClock: ReadClock;
  readonly connectTimeoutUs: number;
  readonly requestsMax: number;
}

export interface BrokerSocketsEvents {
  /** Socket `index` of a broker can be used. */
  opened(address: string, index: number): void;
  /** Attempts fail, too: `wasOpen` tells them apart. */
  closed(address: string, loss: { readonly reason: string; readonly wasOpen: boolean }): void;
  requested(connection: Connection, command: RemotingCommand): boolean;
}

/** Waits between attempts: doubled from the first to the last. */
const BACKOFF_MIN_US = 0.5e6;
const BACKOFF_MAX_US = 8e6;

interface Place {
  readonly address: string;
  readonly index: number;
  connection: Connection | null;
  wasOpen: boolean;
  /** While connecting: when to give up. While closed: when to try again. */
  dueUs: number;
  backoffUs: number;
}

/** Totals over connections that are gone and those that are there. */
export interface SocketTotals {
  bytesSent: number;
  bytesReceived: number;
  unknownAnswers: number;
}

/** The sockets to the brokers that are wanted, made again when they are lost. */
export class BrokerSockets implements ConnectionEvents {
  readonly #options: BrokerSocketsOptions;
  readonly #events: BrokerSocketsEvents;
  readonly #places = new Map<string, Place[]>();
  readonly #byConnection = new Map<Connection, Place>();
  /** Of brokers that are not wanted any more, while answers are still to come. */
  readonly #leaving = new Set<Connection>();
  readonly #past: SocketTotals = { bytesSent: 0, bytesReceived: 0, unknownAnswers: 0 };
  readonly #now = new Float64Array(1);

  constructor(options: BrokerSocketsOptions, events: BrokerSocketsEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Connects to these brokers, and leaves others once they have answered what they were asked. */
  keep(addresses: Iterable<string>): void {
    const wanted = new Set(addresses);
    for (const address of this.#places.keys()) if (!wanted.has(address)) this.#leave(address);
    for (const address of wanted) {
      if (this.#places.has(address)) continue;
      const places = Array.from({ length: this.#options.perBroker }, (_, index) =>
        newPlace(address, index),
      );
      this.#places.set(address, places);
      for (const place of places) this.#attempt(place);
    }
  }

  /** An open connection to a broker, or null. `index` counts modulo the sockets there are. */
  connection(address: string, index = 0): Connection | null {
    const places = this.#places.get(address);
    if (places === undefined) return null;
    const { connection } = places[index % places.length] ?? { connection: null };
    return connection !== null && connection.isOpen ? connection : null;
  }

  get addresses(): string[] {
    return [...this.#places.keys()];
  }

  get totals(): SocketTotals {
    const sum = { ...this.#past };
    for (const connection of this.#byConnection.keys()) addTo(sum, connection);
    return sum;
  }

  /** Requests that wait for their answers. */
  get waiting(): number {
    let sum = 0;
    for (const connection of this.#byConnection.keys()) sum += connection.waiting;
    return sum;
  }

  /** To be called some times a second: late answers, connects that hang, attempts that are due. */
  tick(): void {
    const nowUs = this.#nowUs();
    for (const connection of this.#leaving) {
      connection.expire(nowUs);
      if (connection.waiting === 0) this.#end(connection);
    }
    for (const places of this.#places.values()) {
      for (const place of places) {
        const { connection } = place;
        if (connection === null) {
          if (place.dueUs <= nowUs) this.#attempt(place);
        } else if (connection.isOpen) connection.expire(nowUs);
        else if (place.dueUs <= nowUs) connection.giveUp();
      }
    }
  }

  /** Sends what is written and closes everything. */
  end(): void {
    for (const address of this.#places.keys()) this.#leave(address);
    for (const connection of this.#leaving) this.#end(connection);
  }

  opened(connection: Connection): void {
    const place = this.#byConnection.get(connection);
    if (place === undefined) return;
    place.wasOpen = true;
    place.backoffUs = BACKOFF_MIN_US;
    this.#events.opened(place.address, place.index);
  }

  closed(connection: Connection, reason: string): void {
    const place = this.#byConnection.get(connection);
    if (place === undefined) return;
    this.#forget(connection);
    if (this.#leaving.delete(connection)) return;
    const { wasOpen } = place;
    place.connection = null;
    place.wasOpen = false;
    place.dueUs = this.#nowUs() + place.backoffUs;
    place.backoffUs = Math.min(BACKOFF_MAX_US, place.backoffUs * 2);
    this.#events.closed(place.address, { reason, wasOpen });
  }

  requested(connection: Connection, command: RemotingCommand): boolean {
    return this.#events.requested(connection, command);
  }

  #attempt(place: Place): void {
    const { tls, readClock, requestsMax, connectTimeoutUs } = this.#options;
    const options = { address: place.address, tls, readClock, requestsMax };
    const connection = new Connection(options, this);
    place.connection = connection;
    place.dueUs = this.#nowUs() + connectTimeoutUs;
    this.#byConnection.set(connection, place);
  }

  #leave(address: string): void {
    for (const { connection } of this.#places.get(address) ?? []) {
      if (connection !== null) this.#leaving.add(connection);
    }
    this.#places.delete(address);
  }

  #end(connection: Connection): void {
    this.#leaving.delete(connection);
    connection.end();
    this.#forget(connection);
  }

  #forget(connection: Connection): void {
    addTo(this.#past, connection);
    this.#byConnection.delete(connection);
  }

  #nowUs(): number {
    this.#options.readClock(this.#now);
    return this.#now[0] ?? 0;
  }
}

function newPlace(address: string, index: number): Place {
  return { address, index, connection: null, wasOpen: false, dueUs: 0, backoffUs: BACKOFF_MIN_US };
}

function addTo(sum: SocketTotals, connection: Connection): void {
  sum.bytesSent += connection.bytesSent;
  sum.bytesReceived += connection.bytesReceived;
  sum.unknownAnswers += connection.unknownAnswers;
}
