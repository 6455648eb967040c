import type { Group, MqttTarget } from '@squall/core/plan';
import { AS_ASKED } from '@squall/mqtt';
import { at } from '../element.ts';

/** Session Expiry Interval of a session that does not expire [MQTT-3.1.2.11.2]. */
const NEVER_EXPIRES_S = 0xffff_ffff;

/** How long brokers keep the sessions of a group's clients after their connections have gone. */
export class SessionLives {
  /** By what was agreed on when the client's last connection began, µs. */
  readonly #keepsUs: Float64Array;
  readonly #askedUs: number;

  constructor(group: Group, target: MqttTarget, count: number) {
    this.#askedUs = askedUs(group, target);
    this.#keepsUs = new Float64Array(count).fill(this.#askedUs);
  }

  /** 0 where the client's session ends with its connection; Infinity where it never ends by itself. */
  keepsUs(position: number): number {
    return at(this.#keepsUs, position);
  }

  /** A connection begins. A broker of MQTT 5 may say another time than was asked for [MQTT-3.2.2.3.2]. */
  begin(position: number, expiryS: number): void {
    this.#keepsUs[position] = expiryS === AS_ASKED ? this.#askedUs : microseconds(expiryS);
  }
}

function askedUs({ connect }: Group, { version }: MqttTarget): number {
  if (version !== '5') return connect.cleanStart ? 0 : Number.POSITIVE_INFINITY;
  const { sessionExpiryS } = connect;
  return connect.cleanStart || sessionExpiryS === null ? 0 : microseconds(sessionExpiryS);
}

function microseconds(expiryS: number): number {
  return expiryS === NEVER_EXPIRES_S ? Number.POSITIVE_INFINITY : expiryS * 1_000_000;
}
