import type { Will } from '../codec/packet.ts';
import type { ConnectProperties } from '../codec/properties/properties.ts';
import type { Route } from '../transport/transport.ts';

/** Who a client shows itself to be by a SCRAM exchange. */
export interface ScramCredentials {
  readonly method: 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  readonly username: string;
  readonly password: string;
}

/** How one client connects. Read during `connect` only, so one object may serve many calls. */
export interface ConnectOptions extends Route {
  /**
   * At most 65,535 bytes of UTF-8. Empty: the broker chooses one (`assignedClientId`); not in MQTT
   * 3.1, and in 3.1.1 only with `cleanStart` [MQTT-3.1.3-7].
   */
  readonly clientId: string;
  readonly username?: string | undefined;
  /** Needs `username` before MQTT 5 [MQTT-3.1.2-22]. */
  readonly password?: string | undefined;
  /** 0 = off, else 1–65,535 s [MQTT-3.1.2.10]. */
  readonly keepAliveS: number;
  readonly cleanStart: boolean;
  readonly will?: Will | undefined;
  /** MQTT 5 only, as is the next. */
  readonly properties?: ConnectProperties | undefined;
  /** Enhanced authentication [MQTT-4.12]; the password then stays out of CONNECT. */
  readonly auth?: ScramCredentials | undefined;
  /** From this call to CONNACK; a failure with reason "timed out" past it (coarse: + ≤ 250 ms). */
  readonly timeoutUs: number;
}
