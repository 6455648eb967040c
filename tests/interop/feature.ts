import type { IPublishPacket, MqttClient } from 'mqtt';
import type { ReportJson } from '../fixtures/report-laws.ts';

export type Version = '3.1' | '3.1.1' | '5';

/** What a feature does in each phase of the one run that tries them all. */
export interface Phases {
  /** Connects and subscribes; over when all have. */
  readonly prepare?: Work;
  /** Messages flow. */
  readonly load?: Work;
  /** Something happens to the connections: wills, takeovers, sleep, unsubscribe. */
  readonly change?: Work;
  /** Messages again. */
  readonly reload?: Work;
  /** Sleepers come back. */
  readonly wake?: Work;
}

/** Groups of the plan, by name, and what they do: the form of `run` of a stage. */
type Work = Readonly<Record<string, unknown>>;

/** The other end: clients of the `mqtt` library, subscribed to everything of the feature. */
export interface Peer {
  /** A client that speaks the version of the run; for what a feature does before or after it. */
  readonly client: MqttClient;
  /** Every PUBLISH that came on `<prefix>/#`, in order. */
  readonly packets: readonly IPublishPacket[];
}

export interface Outcome {
  readonly report: ReportJson;
  readonly peer: Peer;
}

/** One thing that MQTT can do, tried with Squall on one end and the `mqtt` library on the other. */
export interface Feature {
  readonly id: string;
  /** What it is, for the table. */
  readonly title: string;
  readonly versions: readonly Version[];
  /** Groups of the plan; topics begin with `prefix`, names with the feature's id. */
  groups(version: Version): Readonly<Record<string, object>>;
  readonly phases: Phases;
  /** Before the run, e.g. a retained message. */
  before?(peer: Peer): Promise<void>;
  /** When the load has begun: what the peer sends. */
  duringLoad?(peer: Peer): Promise<void>;
  /** Throws where it was not as it should be. */
  check(outcome: Outcome): void | Promise<void>;
}

/** Topics of a feature. */
export function prefixOf(id: string): string {
  return `interop/${id}`;
}
