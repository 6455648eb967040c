import type { AuthPacket } from '../../codec/packet.ts';
import type { Properties } from '../../codec/properties/properties.ts';
import { reasonCodeName } from '../../codec/reason-code.ts';
import type { ScramCredentials } from '../connect-options.ts';
import { protocolError } from '../reasons.ts';
import { ScramError, ScramExchange } from './scram.ts';

const SUCCESS = 0x00;
const CONTINUE = 0x18;
const REAUTHENTICATE = 0x19;

/** What an exchange does to its connection. */
export interface AuthenticationControl {
  sendAuth(slot: number, packet: AuthPacket): void;
  giveUp(slot: number, reason: string, code: number): void;
}

interface Exchange {
  readonly method: string;
  readonly scram: ScramExchange;
  /** Told at the end of a re-authentication; null for the one that CONNECT began. */
  readonly done: (() => void) | null;
  /** The server's first message was answered. */
  isAnswered: boolean;
}

const NOT_AUTHORIZED = 0x87;
const PROTOCOL_ERROR = 0x82;
const UNASKED = protocolError('AUTH that nothing was asked by [MQTT-4.12.0-2]');
const BAD_SIGNATURE = protocolError('SCRAM: the broker does not show that it knows the password');

/**
 * Enhanced authentication of clients [MQTT-4.12]: one exchange a slot at a time, begun by CONNECT or
 * by `again`. An exchange lives as long as its connection: `end` forgets it.
 */
export class Authentication {
  readonly #exchanges = new Map<number, Exchange>();
  readonly #control: AuthenticationControl;

  constructor(control: AuthenticationControl) {
    this.#control = control;
  }

  /** Begins the exchange of a CONNECT and gives the properties that it travels with. */
  begin(slot: number, credentials: ScramCredentials): Properties {
    return opening(this.#open(slot, credentials, null));
  }

  /** Re-authenticates a connected client [MQTT-4.12.1]; `done` is called once the broker accepts. */
  again(slot: number, credentials: ScramCredentials, done: () => void): void {
    const exchange = this.#open(slot, credentials, done);
    this.#control.sendAuth(slot, {
      type: 'auth',
      reasonCode: REAUTHENTICATE,
      properties: opening(exchange),
    });
  }

  /** Whether CONNACK may accept: there was no exchange, or it has come to its end. */
  accepts(slot: number, connack: Properties): boolean {
    const exchange = this.#exchanges.get(slot);
    if (exchange === undefined) return true;
    this.#exchanges.delete(slot);
    return exchange.scram.accepts(connack.authenticationData ?? new Uint8Array(0));
  }

  onAuth(slot: number, packet: AuthPacket): void {
    const exchange = this.#exchanges.get(slot);
    const { reasonCode, properties = {} } = packet;
    if (exchange === undefined || properties.authenticationMethod !== exchange.method) {
      this.#control.giveUp(slot, UNASKED, PROTOCOL_ERROR);
      return;
    }
    const data = properties.authenticationData ?? new Uint8Array(0);
    if (reasonCode === CONTINUE && !exchange.isAnswered) {
      exchange.isAnswered = true;
      void this.#answer(slot, exchange, data);
    } else if (reasonCode === SUCCESS && exchange.done !== null && exchange.isAnswered) {
      this.#finish(slot, exchange, data);
    } else {
      const why = protocolError(`AUTH out of turn: ${reasonCodeName(reasonCode)} [MQTT-4.12.0-2]`);
      this.#control.giveUp(slot, why, PROTOCOL_ERROR);
    }
  }

  /** The connection of a slot is over. */
  end(slot: number): void {
    if (this.#exchanges.size > 0) this.#exchanges.delete(slot);
  }

  #open(slot: number, credentials: ScramCredentials, done: (() => void) | null): Exchange {
    const scram = new ScramExchange(credentials);
    const exchange: Exchange = { method: credentials.method, scram, done, isAnswered: false };
    this.#exchanges.set(slot, exchange);
    return exchange;
  }

  async #answer(slot: number, exchange: Exchange, challenge: Uint8Array): Promise<void> {
    let data: Buffer | null = null;
    let why = 'no key can be derived';
    try {
      data = await exchange.scram.final(challenge);
    } catch (error) {
      if (error instanceof ScramError) why = error.message;
    }
    // Meanwhile the connection may have gone, and another one have come.
    if (this.#exchanges.get(slot) !== exchange) return;
    if (data === null) {
      this.#control.giveUp(slot, protocolError(`SCRAM: ${why}`), PROTOCOL_ERROR);
      return;
    }
    const properties = { authenticationMethod: exchange.method, authenticationData: data };
    this.#control.sendAuth(slot, { type: 'auth', reasonCode: CONTINUE, properties });
  }

  #finish(slot: number, exchange: Exchange, data: Uint8Array): void {
    this.#exchanges.delete(slot);
    if (exchange.scram.accepts(data)) exchange.done?.();
    else this.#control.giveUp(slot, BAD_SIGNATURE, NOT_AUTHORIZED);
  }
}

function opening({ method, scram }: Exchange): Properties {
  return { authenticationMethod: method, authenticationData: scram.first() };
}

/** The CONNACK that accepts does not show that the broker knows the password. */
export const UNPROVEN_BROKER = BAD_SIGNATURE;
