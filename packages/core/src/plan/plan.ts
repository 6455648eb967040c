/**
 * The normalised plan: what `core/plan` makes of a plan file, and the only form that the rest of
 * the house sees. Units are resolved (µs, bytes, per second), defaults filled, references checked.
 * It is plain JSON, so it travels in `assign` and stands in the report as it is.
 */
export interface Plan {
  readonly squall: 1;
  readonly name: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Values of `vars` after `--var`; secrets taken from `{{env.X}}` are never in here. */
  readonly vars: Readonly<Record<string, string>>;
  readonly targets: Readonly<Record<string, MqttTarget>>;
  /** In the order of the file. The order is part of the plan: group indexes refer to it. */
  readonly groups: readonly Group[];
  readonly stages: readonly Stage[];
  readonly thresholds: readonly ThresholdSpec[];
  readonly limits: Limits;
  readonly settle: { readonly quietUs: number; readonly maxUs: number };
  /** How long acknowledgements of a stage's messages are waited for after its end. */
  readonly drainUs: number;
  /** How late a due message may wait before it is dropped. */
  readonly backlogUs: number;
}

export interface MqttTarget {
  readonly name: string;
  readonly protocol: 'mqtt';
  readonly urls: readonly BrokerUrl[];
  readonly version: '3.1.1';
}

export interface BrokerUrl {
  readonly scheme: 'mqtt';
  readonly host: string;
  readonly port: number;
}

export interface Group {
  readonly name: string;
  readonly target: string;
  /** Virtual clients over all agents, ≥ 1. */
  readonly clients: number;
  /** Templates, see `core/template`. */
  readonly clientId: string;
  readonly username: string | null;
  readonly password: string | null;
  readonly connect: ConnectSpec;
  readonly publish: readonly PublishStream[];
  readonly subscribe: readonly SubscribeEntry[];
}

export interface ConnectSpec {
  /** Connects a second over the whole group. */
  readonly ratePerS: number;
  /** 0 switches keep-alive off; otherwise 1–65,535 s [MQTT-3.1.2.10]. */
  readonly keepAliveS: number;
  readonly cleanStart: boolean;
  /** From the start of the TCP connect to CONNACK. */
  readonly timeoutUs: number;
  /** Further attempts after a failed first one. */
  readonly retries: number;
  readonly backoffMinUs: number;
  readonly backoffMaxUs: number;
}

export interface PublishStream {
  /** Null where the group has one unnamed stream. */
  readonly name: string | null;
  /** `group` or `group.stream`: the label of its series and what stages and thresholds call it. */
  readonly subject: string;
  readonly topic: string;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  readonly payload: Payload;
  readonly pace: Pace;
  /** In-flight window a client (QoS 1), ≥ 1. */
  readonly inflight: number;
  readonly ackTimeoutUs: number;
  /** Exact number of messages of this stream over the whole group, in each stage that runs it. */
  readonly count: number | null;
  /** Whether payloads carry the stamp (`measurement.md` 4). */
  readonly verify: boolean;
}

export type Payload =
  | { readonly kind: 'size'; readonly bytes: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hex'; readonly hex: string };

export type Pace =
  /** One message a client every `everyUs`. */
  | { readonly kind: 'every'; readonly everyUs: number }
  /** `perS` messages a second over the whole group; fractions are exact. */
  | { readonly kind: 'rate'; readonly perS: number }
  /** Closed loop: as fast as the in-flight window lets it. */
  | { readonly kind: 'max' };

export interface SubscribeEntry {
  readonly name: string | null;
  readonly subject: string;
  /** Topic filter templates, ≥ 1. */
  readonly topics: readonly string[];
  readonly qos: 0 | 1;
}

export interface Stage {
  readonly name: string;
  /** Index in `plan.stages`. */
  readonly index: number;
  readonly warmup: boolean;
  readonly run: readonly StageWork[];
  /** `for`, or null. Exactly one of `forUs`, `until` and completion ends a stage. */
  readonly forUs: number | null;
  readonly until: Condition | null;
  /** Deadline of a stage without `for`, from its clock (or from its prologue's start while in it). */
  readonly deadlineUs: number;
  readonly onIncomplete: 'continue' | 'abort';
}

/** What one group does in a stage. A group that a stage does not name starts nothing new. */
export interface StageWork {
  /** Index in `plan.groups`. */
  readonly group: number;
  readonly activities: readonly Activity[];
}

export type Activity =
  | { readonly kind: 'connect' }
  /** `entry` indexes the group's `subscribe`; a bare `subscribe` becomes one activity an entry. */
  | { readonly kind: 'subscribe'; readonly entry: number }
  /** `stream` indexes the group's `publish`; pace and window are the stage's, overrides applied. */
  | {
      readonly kind: 'publish';
      readonly stream: number;
      readonly pace: Pace;
      readonly inflight: number;
    }
  | { readonly kind: 'disconnect' }
  | { readonly kind: 'idle' };

/** `until:` of a stage, e.g. `producers.bytes_sent >= 100GB`. Judged by the controller. */
export interface Condition {
  readonly text: string;
  readonly subject: string;
  readonly metric: string;
  readonly op: '<' | '<=' | '>' | '>=' | '==' | '!=';
  readonly value: number;
  /** True: counts from the start of the run (`run.` before the name), else from the stage's. */
  readonly fromRun: boolean;
}

/** One threshold, both forms. `text` is what reports print; parsing lives in `core/thresholds`. */
export interface ThresholdSpec {
  readonly text: string;
  readonly id: string | null;
  readonly noData: 'fail' | 'warn' | 'pass' | 'inconclusive';
  readonly minSamples: number | null;
}

export interface Limits {
  readonly maxDurationUs: number;
  readonly onAgentLoss: 'abort' | 'degrade';
  /** How long a silent or cut-off agent (and a silent controller, seen by agents) is waited for. */
  readonly agentGraceUs: number;
  readonly agents: {
    readonly count: number | null;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly generator: GeneratorLimits;
}

/** The validity table of the generator: `degraded` and `invalid` limits a check. Null switches off. */
export interface GeneratorLimits {
  readonly latenessP99Us: Bounds;
  readonly droppedShare: Bounds;
  readonly framesMissingShare: Bounds;
  readonly startSkewUs: Bounds;
  readonly histogramOverflow: Bounds;
}

export interface Bounds {
  readonly degraded: number | null;
  readonly invalid: number | null;
}
