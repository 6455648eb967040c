import type { HeldPulls } from './held-pulls.ts';
import type { Groups } from './groups.ts';
import type { MessageStore } from './message-store.ts';

/** A broker as the route of a topic names it. */
export interface RoutedBroker {
  readonly name: string;
  readonly address: string;
}

/** What the answers of one broker come from. */
export interface BrokerState {
  readonly store: MessageStore;
  readonly groups: Groups;
  readonly held: HeldPulls;
  readonly name: string;
  /** Of a topic that is made by a send, or by asking for its route. */
  readonly queues: number;
  /** Bits of `Permission`. */
  readonly permissions: number;
  /** Topics are made by whoever names them. */
  readonly autoCreate: boolean;
  /** Topics without a route yet. */
  readonly unrouted: ReadonlySet<string>;
  /** Larger bodies are refused. */
  readonly maxMessageBytes: number;
  /** Itself, and others that share its topics. */
  brokers(): readonly RoutedBroker[];
  /** Tells every member of a group that there are others than before. */
  notify(group: string): void;
}
