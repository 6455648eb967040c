import type { Route } from '../transport/transport.ts';

/** How one client connects. Read during `connect` only, so one object may serve many calls. */
export interface ConnectOptions extends Route {
  /** At most 65,535 bytes of UTF-8; empty only with `cleanStart` [MQTT-3.1.3-7]. */
  readonly clientId: string;
  readonly username?: string | undefined;
  /** Needs `username` [MQTT-3.1.2-22]. */
  readonly password?: string | undefined;
  /** 0 = off, else 1–65,535 s [MQTT-3.1.2.10]. */
  readonly keepAliveS: number;
  readonly cleanStart: boolean;
  /** From this call to CONNACK; a failure with reason "timed out" past it (coarse: + ≤ 250 ms). */
  readonly timeoutUs: number;
}
