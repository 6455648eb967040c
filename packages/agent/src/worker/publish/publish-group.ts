import type { InflightTable, MqttClients } from '@squall/mqtt';
import type { ClientOrder } from '../clients/client-order.ts';
import type { Moment } from '../clock.ts';
import type { Meter } from '../measure/meter.ts';
import type { KeptMessages } from './kept-messages.ts';

/** What the streams of one group share: its clients, their states and their in-flight messages. */
export interface PublishGroup {
  readonly order: ClientOrder;
  readonly clients: Pick<MqttClients, 'publish' | 'publishRefusal' | 'limits'>;
  readonly moment: Moment;
  /** One of `connection-state.ts` a client. */
  readonly states: Uint8Array;
  /** 1 where bytes of the client were seen waiting in user space. */
  readonly blocked: Uint8Array;
  readonly table: InflightTable;
  /** Number of the message in flight, by entry of the table: for the ledger. */
  readonly seqs: Uint32Array;
  /** Copies of what is in flight, where sessions outlive connections. */
  readonly kept: KeptMessages | null;
  /** Whether brokers may say what they do not take, as in MQTT 5. */
  readonly isLimited: boolean;
  /** Messages of QoS 1 and 2 that the client's broker lets it have in flight. */
  receiveMaximumOf(position: number): number;
  /** Bytes of the client in user space. */
  unsentOf(position: number): number;
  /** Books failed messages of a client, and keeps the first ones as examples. */
  failed(meter: Meter, failure: PublishFailure): void;
}

export interface PublishFailure {
  readonly metric: 'dropped' | 'publish_failed' | 'request_failed';
  readonly reason: string;
  readonly position: number;
  readonly n: number;
}
