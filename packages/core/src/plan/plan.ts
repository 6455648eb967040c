import type { BalanceSpec } from './balance-spec.ts';
import type { ProbeSpec } from './probe-spec.ts';

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
  /**
   * Files that the plan names, by the name it gives them. Only what they are stands here; what is in
   * them travels beside the plan, to those who need it.
   */
  readonly files: Readonly<Record<string, FileFacts>>;
  /** Values of `vars` after `--var`; secrets taken from `{{env.X}}` are never in here. */
  readonly vars: Readonly<Record<string, string>>;
  readonly targets: Readonly<Record<string, Target>>;
  /** In the order of the file. The order is part of the plan: group indexes refer to it. */
  readonly groups: readonly Group[];
  readonly stages: readonly Stage[];
  /** In the order of the file. */
  readonly probes: readonly ProbeSpec[];
  readonly thresholds: readonly ThresholdSpec[];
  /** Null: nothing is held against each other. */
  readonly balance: BalanceSpec | null;
  readonly limits: Limits;
  readonly settle: { readonly quietUs: number; readonly maxUs: number };
  /** How long acknowledgements of a stage's messages are waited for after its end. */
  readonly drainUs: number;
  /** How late a due message may wait before it is dropped. */
  readonly backlogUs: number;
  /** What is removed from the brokers when the run is over; null: nothing. */
  readonly cleanup: CleanupSpec | null;
}

/** Each agent removes what its own clients left, before it is done. */
export interface CleanupSpec {
  /** Retained messages on the topics that the groups used. */
  readonly retained: boolean;
  /** Sessions that clients were to keep. */
  readonly sessions: boolean;
  /** Connections and messages a second of all agents, together. */
  readonly ratePerS: number;
  /** It ends by then, with what is done. */
  readonly maxUs: number;
}

export interface FileFacts {
  readonly bytes: number;
  /** Of its bytes, 64 hexadecimal digits. */
  readonly sha256: string;
}

export type Target = MqttTarget | RocketmqTarget;

export interface MqttTarget {
  readonly name: string;
  readonly protocol: 'mqtt';
  /** One or more. */
  readonly urls: readonly BrokerUrl[];
  readonly version: MqttVersion;
  /**
   * How clients go over several addresses: one after the other by index, in contiguous blocks of
   * equal size (the first ones larger by one where they do not divide), or all to the first one that
   * answers.
   */
  readonly spread: Spread;
  /** Of `mqtts` and `wss` addresses; null where none of the addresses has TLS. */
  readonly tls: TlsSpec | null;
  /** Of `ws` and `wss` addresses; null where none of the addresses is a WebSocket. */
  readonly ws: WsSpec | null;
}

export interface RocketmqTarget {
  readonly name: string;
  readonly protocol: 'rocketmq';
  /** `host:port` each, one or more: the first one that answers tells where the brokers are. */
  readonly nameServers: readonly string[];
  /** Templates of the two keys, which `{{env.NAME}}` keeps secret; null: no accounts. */
  readonly acl: { readonly accessKey: string; readonly secretKey: string } | null;
  /** Null: plain connections. */
  readonly tls: TlsSpec | null;
  /** Sockets to each broker that all senders of a worker share. */
  readonly connections: number;
  /** Topics and groups of the plan are made where they are missing; null: they must be there. */
  readonly create: { readonly queues: number } | null;
}

export type MqttVersion = '3.1' | '3.1.1' | '5';
export type Spread = 'round-robin' | 'blocks' | 'first';

export interface BrokerUrl {
  readonly scheme: 'mqtt' | 'mqtts' | 'ws' | 'wss';
  readonly host: string;
  readonly port: number;
  /** Path of the WebSocket, from its `/` on; empty for `mqtt` and `mqtts`. */
  readonly path: string;
}

/** TLS of a target. Files are names in `Plan.files`. */
export interface TlsSpec {
  /** File with the certificates to trust (PEM); null: those that Node.js trusts. */
  readonly ca: string | null;
  /** Client certificate (PEM): a name of a file, or a template that gives one for each client. */
  readonly cert: string | null;
  /** Its key (PEM), likewise. */
  readonly key: string | null;
  /** Name sent as SNI and looked for in the certificate; null: the host of the address. */
  readonly servername: string | null;
  /** Whether the broker's certificate is checked. */
  readonly verify: boolean;
  /** Null: what Node.js takes. */
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3' | null;
  /** Protocols offered by ALPN; none where empty. */
  readonly alpn: readonly string[];
  /** Whether a client that connects again resumes its TLS session. */
  readonly resume: boolean;
}

export interface WsSpec {
  /** Headers of the upgrade request; values are templates, rendered once a client. */
  readonly headers: Readonly<Record<string, string>>;
  /** `mqtt`, with version 3.1 `mqttv3.1` [MQTT-6.0.0-3]. */
  readonly subprotocol: string;
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
  /** The CSV file whose row n is client n's; null where the group has none. */
  readonly from: CsvSpec | null;
  /** Local addresses that clients connect from, by turns; empty: what the system chooses. */
  readonly sourceAddresses: readonly string[];
  readonly connect: ConnectSpec;
  readonly publish: readonly PublishStream[];
  readonly subscribe: readonly SubscribeEntry[];
  readonly respond: readonly RespondSpec[];
}

/** A CSV file with one row a client. Rows travel only to the agents whose clients they are. */
export interface CsvSpec {
  /** Name in `Plan.files`. */
  readonly file: string;
  /** Names of the columns, which `{{csv.x}}` calls by. */
  readonly columns: readonly string[];
  /** Rows below the header, at least as many as the group has clients. */
  readonly rows: number;
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
  /**
   * Session Expiry Interval, s, 0 to 4,294,967,295 (never) [MQTT-3.1.2.11.2]; MQTT 5 only. Null: the
   * property is not sent. Where the plan says nothing, `cleanStart: false` under MQTT 5 keeps the
   * session for ever, as in 3.1.1.
   */
  readonly sessionExpiryS: number | null;
  readonly will: WillSpec | null;
  /** MQTT 5 only. */
  readonly properties: ConnectProperties | null;
  /** Enhanced authentication (MQTT 5) with the group's user name and password. */
  readonly auth: AuthSpec | null;
}

export interface WillSpec {
  readonly topic: string;
  readonly payload: Payload;
  readonly qos: Qos;
  readonly retain: boolean;
  /** Will Delay Interval, s; null: not sent. MQTT 5 only, as are the two below. */
  readonly delayS: number | null;
  readonly expiryS: number | null;
  readonly properties: MessageProperties | null;
}

/** Properties of CONNECT; null: not sent [MQTT-3.1.2.11]. */
export interface ConnectProperties {
  /** 1–65,535. */
  readonly receiveMaximum: number | null;
  /** Bytes, 1–4,294,967,295. */
  readonly maximumPacketSize: number | null;
  /** Aliases that the broker may use towards a client, 0–65,535. */
  readonly topicAliasMaximum: number | null;
  readonly requestResponseInformation: boolean | null;
  readonly requestProblemInformation: boolean | null;
  readonly userProperties: readonly UserProperty[];
}

/** A User Property; the value is a template. A name may stand more than once. */
export interface UserProperty {
  readonly name: string;
  readonly value: string;
}

export interface AuthSpec {
  readonly method: 'SCRAM-SHA-256';
}

export type Qos = 0 | 1 | 2;

export interface PublishStream {
  /** Null where the group has one unnamed stream. */
  readonly name: string | null;
  /** `group` or `group.stream`: the label of its series and what stages and thresholds call it. */
  readonly subject: string;
  /** A topic template, or several of them with weights: `core/schedule` says which message gets which. */
  readonly topic: string | readonly TopicChoice[];
  readonly qos: Qos;
  readonly retain: boolean;
  readonly payload: Payload;
  readonly pace: Pace;
  /** How due times are spread: evenly, or as a Poisson process of the same mean. */
  readonly arrivals: 'even' | 'poisson';
  /** Where clients begin in their period: spread evenly over it, or each at a random place. */
  readonly phase: 'even' | 'random';
  /** In-flight window a client (QoS 1 and 2), ≥ 1. */
  readonly inflight: number;
  readonly ackTimeoutUs: number;
  /** Exact number of messages of this stream over the whole group, in each stage that runs it. */
  readonly count: number | null;
  /** Whether payloads carry the stamp (`measurement.md` 4). */
  readonly verify: boolean;
  /** Message Expiry Interval, s; null: not sent. MQTT 5 only, as are the two below. */
  readonly expiryS: number | null;
  /** Topic aliases that a client may use, 1–65,535, as far as the broker lets it; null: none. */
  readonly topicAlias: number | null;
  readonly properties: MessageProperties | null;
  /** Each message asks for an answer, whose round-trip time is measured. */
  readonly request: RequestSpec | null;
  /** What RocketMQ has besides; only in groups that talk to it. */
  readonly rocketmq?: RocketmqPublish;
}

/**
 * Publishing to RocketMQ. QoS 1 stands for what it acknowledges, QoS 0 for one-way messages; the
 * in-flight window counts requests.
 */
export interface RocketmqPublish {
  /** Messages of one client in one request, ≥ 1. */
  readonly batch: number;
  /** Templates; null: not sent. */
  readonly keys: string | null;
  readonly tags: string | null;
  readonly userProperties: readonly UserProperty[];
  /** 1 to 18; null: delivered at once. */
  readonly delayLevel: number | null;
  /** Template of the key that chooses the queue; null: by turn, or `queue`. */
  readonly shardingKey: string | null;
  /** One message at a time on a queue, so that it keeps the order. */
  readonly ordered: boolean;
  /** The one queue of each broker that is written to; null: all. */
  readonly queue: number | null;
  /** Bodies of so many bytes and more are compressed; null: none. */
  readonly compressFromBytes: number | null;
  /** Half messages, and which shares of them are rolled back and left open; null: plain ones. */
  readonly transaction: { readonly rollback: number; readonly unknown: number } | null;
}

export interface TopicChoice {
  readonly template: string;
  /** Whole, ≥ 1: so many messages of each sum of all weights. */
  readonly weight: number;
}

/** Properties of PUBLISH and of a will [MQTT-3.3.2.3]; texts are templates, null: not sent. */
export interface MessageProperties {
  readonly contentType: string | null;
  readonly responseTopic: string | null;
  /** UTF-8 of what is rendered. */
  readonly correlationData: string | null;
  /** 0: bytes, 1: UTF-8 text. */
  readonly payloadFormat: 0 | 1 | null;
  readonly userProperties: readonly UserProperty[];
}

/** What makes the messages of a stream requests. Its clients subscribe to `responseTopic` themselves. */
export interface RequestSpec {
  /** Where answers are wanted: a template, rendered once a client. */
  readonly responseTopic: string;
  /** QoS asked for in that subscription. */
  readonly qos: Qos;
  /** An answer that comes later counts as none. */
  readonly timeoutUs: number;
}

/** Clients that answer what comes in on a topic. */
export interface RespondSpec {
  /** Null where the group has one unnamed entry. */
  readonly name: string | null;
  /** `group` or `group.entry`. */
  readonly subject: string;
  /** Filter templates of the requests, ≥ 1. */
  readonly topics: readonly string[];
  /** QoS of that subscription and of the answers. */
  readonly qos: Qos;
  /** Template of the answer's topic; null: the Response Topic of the request (MQTT 5). */
  readonly to: string | null;
  /** Null: the payload of the request goes back. */
  readonly payload: Payload | null;
  /** How long a client thinks before it answers. */
  readonly delayUs: number;
}

export type Payload =
  /**
   * Made-up bytes. `repeat`: bytes that no compression shrinks, the same in every message; `random`:
   * such bytes, others in every message; `compressible`: text that shrinks to about a quarter, the
   * same in every message.
   */
  | {
      readonly kind: 'size';
      readonly bytes: number;
      readonly fill: 'repeat' | 'random' | 'compressible';
    }
  /** Sent as it is, UTF-8. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hex'; readonly hex: string }
  /** A template, rendered for each message as far as it changes. */
  | { readonly kind: 'template'; readonly template: string }
  /** JSON in its shortest form, as a template. */
  | { readonly kind: 'json'; readonly template: string }
  /** The bytes of a file: a name in `Plan.files`. */
  | { readonly kind: 'file'; readonly file: string }
  /** The files of a directory, one after the other: names in `Plan.files`, ≥ 1, sorted. */
  | { readonly kind: 'files'; readonly files: readonly string[] };

export type Pace =
  /** One message a client every `everyUs`. */
  | { readonly kind: 'every'; readonly everyUs: number }
  /** `perS` messages a second over the whole group; fractions are exact. */
  | { readonly kind: 'rate'; readonly perS: number }
  /** Closed loop: as fast as the in-flight window lets it. */
  | { readonly kind: 'max' }
  /** A group rate that goes evenly from one to the other, and stays there. */
  | {
      readonly kind: 'ramp';
      readonly fromPerS: number;
      readonly toPerS: number;
      readonly overUs: number;
    }
  /** Group rates one after the other; the last one stays. */
  | {
      readonly kind: 'steps';
      readonly steps: readonly { readonly perS: number; readonly forUs: number }[];
    }
  /** A group rate that jumps to another one for a while. */
  | {
      readonly kind: 'spike';
      readonly basePerS: number;
      readonly peakPerS: number;
      readonly atUs: number;
      readonly forUs: number;
    };

export interface SubscribeEntry {
  readonly name: string | null;
  readonly subject: string;
  /** Topic filter templates, ≥ 1. Those of a shared subscription begin with `$share/`. */
  readonly topics: readonly string[];
  readonly qos: Qos;
  /** Group of a shared subscription, a template; null where it is not shared. */
  readonly share: string | null;
  readonly options: SubscribeOptions;
  /**
   * The entry consumes from RocketMQ. Its group is written as a shared subscription of its topic, since
   * each message is for one of its members; when broadcasting each client has a share of its own.
   */
  readonly consume?: ConsumeSpec;
}

export interface ConsumeSpec {
  /** Templates that are the same for all clients. */
  readonly topic: string;
  readonly group: string;
  /** Tags to take; empty: all. */
  readonly tags: readonly string[];
  /** SQL filter, null where there is none. */
  readonly sql: string | null;
  /** Where a group begins that has no offsets yet. */
  readonly from: ConsumeFrom;
  /** Messages that a pull asks for. */
  readonly batch: number;
  /** Queues are locked, and read in order. */
  readonly ordered: boolean;
  readonly broadcast: boolean;
  /** Client n reads every N-th queue, and registers nowhere. */
  readonly fixed: boolean;
  /** Share of messages that are sent back, to come again. */
  readonly failShare: number;
  /** Deliveries before the dead-letter topic. */
  readonly retries: number;
}

export type ConsumeFrom =
  | { readonly at: 'first' }
  | { readonly at: 'last' }
  /** ms of the epoch. */
  | { readonly at: 'timestamp'; readonly timestampMs: number }
  | { readonly at: 'offset'; readonly offset: number };

/** Options of a subscription [MQTT-3.8.3.1]; MQTT 5 only but for their defaults. */
export interface SubscribeOptions {
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  /** Retained messages come: 0 always, 1 where the subscription is new, 2 never. */
  readonly retainHandling: 0 | 1 | 2;
  /** Subscription Identifier, 1–268,435,455; null: not sent. */
  readonly identifier: number | null;
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
  /** At the group's connect rate where the stage gives none. */
  | { readonly kind: 'connect'; readonly ratePerS?: number }
  /** `entry` indexes the group's `subscribe`; a bare `subscribe` becomes one activity an entry. */
  | { readonly kind: 'subscribe'; readonly entry: number }
  /** `stream` indexes the group's `publish`; pace and window are the stage's, overrides applied. */
  | {
      readonly kind: 'publish';
      readonly stream: number;
      readonly pace: Pace;
      readonly inflight: number;
    }
  /** Answers what comes in by the group's `respond` entry. */
  | { readonly kind: 'respond'; readonly entry: number }
  /** Pulls by the group's `subscribe` entry; pauses in stages that do not name it, offsets stay. */
  | { readonly kind: 'consume'; readonly entry: number }
  | { readonly kind: 'unsubscribe'; readonly entry: number }
  /** Without `drop` every client goes, by DISCONNECT and for good, at the group's connect rate. */
  | { readonly kind: 'disconnect'; readonly drop?: DropSpec }
  /** Clients whose id connects once more while their connection lives: the broker ends the old one. */
  | { readonly kind: 'takeover'; readonly share: number; readonly ratePerS: number }
  /** Clients that connect at a rate, stay, and go again. */
  | { readonly kind: 'churn'; readonly ratePerS: number; readonly stayUs: number }
  | { readonly kind: 'idle' };

/** How clients of a group go, and whether they come back in the same stage. */
export interface DropSpec {
  /** Of the group's clients, above 0, at most 1; they are taken by rank, so evenly over all agents. */
  readonly share: number;
  /** Over the whole group; null: all at once. */
  readonly ratePerS: number | null;
  /** The connection is reset, without DISCONNECT. */
  readonly abrupt: boolean;
  /** Sessions are kept for the way back, and subscriptions and messages in flight with them. */
  readonly keep: boolean;
  /** Rate of coming back, over the whole group, `afterUs` after the first one goes. */
  readonly back: { readonly ratePerS: number; readonly afterUs: number } | null;
}

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
