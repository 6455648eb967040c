import type { AclCredentials } from '../codec/acl-signer.ts';
import type { ReadClock } from '../connections/connection.ts';
import type { TlsSettings } from '../connections/tls-settings.ts';

export interface ClientOptions {
  /** `host:port` each. */
  readonly nameServers: readonly string[];
  readonly readClock: ReadClock;
  readonly acl?: AclCredentials | null;
  readonly tls?: TlsSettings | null;
  /** Sockets to each broker that all senders share [1]. */
  readonly connections?: number;
  /** How brokers know this process [`squall-`, pid and a random part]. */
  readonly clientId?: string;
  readonly connectTimeoutMs?: number;
  /** Of requests that are no load: routes, offsets, administration. */
  readonly requestTimeoutMs?: number;
  /** Requests under way on one socket at most; a power of two [4096]. */
  readonly requestsMax?: number;
  /** How long a route may take to appear [15,000]: a broker may register 10 s after its start. */
  readonly routeWaitMs?: number;
  /** Which name server is asked first [0]; counts modulo their number. */
  readonly firstNameServer?: number;
}

export const CONNECT_TIMEOUT_MS = 10_000;
/** As official clients wait for administration. */
export const REQUEST_TIMEOUT_MS = 5_000;
export const REQUESTS_MAX = 4096;
export const ROUTE_WAIT_MS = 15_000;
/** Time-outs, reconnects, refreshes and commits are looked at so often. */
export const TICK_MS = 50;
