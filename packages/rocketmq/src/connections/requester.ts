import type { AclSigner } from '../codec/acl-signer.ts';
import { EMPTY_BODY, type RemotingCommand, request, type RequestParts } from '../codec/command.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import { answerOf } from './answers.ts';
import { Connection, type ConnectionEvents, type ReadClock } from './connection.ts';
import type { TlsSettings } from './tls-settings.ts';

export interface RequesterOptions {
  readonly tls: TlsSettings | null;
  /** Null: requests go unsigned, as name servers have them. */
  readonly signer: AclSigner | null;
  readonly readClock: ReadClock;
  readonly connectTimeoutUs: number;
  readonly requestTimeoutUs: number;
}

/** Rare requests: a few dozen at a time at most. */
const REQUESTS_MAX = 1024;

/** A connection that is being made, or was. */
class Opening {
  readonly connection: Connection;
  readonly deadlineUs: number;
  readonly opened: Promise<Connection>;
  #resolve: (connection: Connection) => void = never;
  #reject: (error: RocketmqError) => void = never;

  constructor(connection: Connection, deadlineUs: number) {
    this.connection = connection;
    this.deadlineUs = deadlineUs;
    this.opened = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever waits hears of a failure; that nobody waits any more is none.
    this.opened.catch(never);
  }

  succeed(): void {
    this.#resolve(this.connection);
  }

  fail(reason: string): void {
    this.#reject(connectError(this.connection.address, reason));
  }
}

function never(): void {
  // Stands where a promise's own functions come to stand.
}

/**
 * Questions to any server by its address, over one connection each that is made when first needed and
 * again when it was lost: routes, offsets, administration.
 */
export class Requester implements ConnectionEvents {
  readonly #options: RequesterOptions;
  readonly #openings = new Map<string, Opening>();
  readonly #now = new Float64Array(1);

  constructor(options: RequesterOptions) {
    this.#options = options;
  }

  /**
   * The answer, whatever its code.
   *
   * @throws RocketmqError CONNECT, TIMEOUT, CLOSED, HEADER
   */
  async ask(address: string, parts: RequestParts): Promise<RemotingCommand> {
    try {
      return await this.#askOnce(address, parts);
    } catch (error) {
      // A server closes a connection that was idle for two minutes, perhaps as we ask: what is asked
      // here may be asked twice.
      if (!(error instanceof RocketmqError) || error.code !== 'CLOSED') throw error;
      return this.#askOnce(address, parts);
    }
  }

  /** To be called some times a second. */
  tick(): void {
    const nowUs = this.#nowUs();
    for (const { connection, deadlineUs } of this.#openings.values()) {
      connection.expire(nowUs);
      if (!connection.isOpen && deadlineUs <= nowUs) connection.giveUp();
    }
  }

  end(): void {
    for (const opening of this.#openings.values()) {
      opening.connection.end();
      opening.fail('client ended');
    }
    this.#openings.clear();
  }

  opened(connection: Connection): void {
    this.#openings.get(connection.address)?.succeed();
  }

  closed(connection: Connection, reason: string): void {
    const opening = this.#openings.get(connection.address);
    if (opening?.connection !== connection) return;
    this.#openings.delete(connection.address);
    opening.fail(reason);
  }

  requested(): boolean {
    return false;
  }

  async #askOnce(address: string, parts: RequestParts): Promise<RemotingCommand> {
    const { signer, requestTimeoutUs } = this.#options;
    const connection = await this.#opening(address).opened;
    return answerOf(connection, signedRequest(parts, signer), requestTimeoutUs);
  }

  #opening(address: string): Opening {
    const known = this.#openings.get(address);
    if (known !== undefined) return known;
    const { tls, readClock, connectTimeoutUs } = this.#options;
    const options = { address, tls, readClock, requestsMax: REQUESTS_MAX };
    const connection = new Connection(options, this);
    const deadlineUs = this.#nowUs() + connectTimeoutUs;
    const opening = new Opening(connection, deadlineUs);
    this.#openings.set(address, opening);
    return opening;
  }

  #nowUs(): number {
    this.#options.readClock(this.#now);
    return this.#now[0] ?? 0;
  }
}

/** A request with its signature where there is a signer. */
export function signedRequest(parts: RequestParts, signer: AclSigner | null): RemotingCommand {
  if (signer === null) return request(parts);
  return request({ ...parts, ext: signer.signed(parts.ext ?? {}, parts.body ?? EMPTY_BODY) });
}

export function connectError(address: string, reason: string): RocketmqError {
  return new RocketmqError('CONNECT', `no connection to ${address}: ${reason}`, { address });
}
