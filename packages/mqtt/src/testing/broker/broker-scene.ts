import type { ConnectPacket, Qos } from '../../codec/packet.ts';
import type { Properties } from '../../codec/properties/properties.ts';
import type { FaultBook } from '../fault.ts';
import type { ReadStamp } from '../gate-packet.ts';
import type { BrokerConnection } from './broker-connection.ts';
import type { Session } from './session.ts';
import type { Switchboard } from './switchboard.ts';

/** One step of an exchange of AUTH packets, as a broker sees it. */
export interface AuthStep {
  readonly method: string;
  readonly data: Uint8Array | undefined;
  /** 0 is the CONNECT. */
  readonly step: number;
}

/** 0x18: go on; 0: it is done; from 0x80 on: refused. */
export interface AuthAnswer {
  readonly reasonCode: number;
  readonly data?: Uint8Array;
}

/** What all connections of a broker share. */
export interface BrokerScene {
  readonly book: FaultBook;
  readonly board: Switchboard;
  readonly readStamp: ReadStamp;
  /** What CONNACKs say of the server. */
  readonly connack: Properties;
  /** The most that a subscription is granted. */
  readonly grants: Qos;
  readonly ignoresReceiveMaximum: boolean;
  readonly auth: ((step: AuthStep) => AuthAnswer) | undefined;
  readonly newClientId: () => string;
  /** A client did what the specification forbids. */
  readonly violation: (clientId: string, why: string) => void;
  /** The session of a client that connects; one that it has elsewhere ends there. */
  readonly join: (
    connection: BrokerConnection,
    packet: ConnectPacket,
  ) => { readonly session: Session; readonly isNew: boolean };
  /** The connection is over. */
  readonly leave: (connection: BrokerConnection, session: Session) => void;
}
