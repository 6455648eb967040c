/** Something outside the load generator that the controller reads figures of. */
export interface ProbeSpec {
  readonly name: string;
  readonly source: ProbeSource;
  /** Null: read before the load and in settle only, since reading is load, too. */
  readonly intervalUs: number | null;
  /** A reading that takes longer has failed. */
  readonly timeoutUs: number;
}

/** Texts may hold `{{env.NAME}}`, which the controller fills in and nobody else sees. */
export type ProbeSource =
  | SqlProbeSource
  | { readonly type: 'nginx'; readonly url: string }
  | HttpProbeSource
  | PrometheusProbeSource
  | { readonly type: 'node'; readonly url: string }
  | EmqxProbeSource
  | { readonly type: 'mosquitto'; readonly url: string }
  | { readonly type: 'rabbitmq'; readonly url: string }
  | RocketmqProbeSource
  | WebhookProbeSource
  | HostProbeSource;

export interface SqlProbeSource {
  readonly type: 'mysql' | 'postgres';
  readonly url: string;
  /** A single SELECT that gives one number. */
  readonly query: string;
}

export interface HttpProbeSource {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Figure → JSON pointer [RFC 6901]. */
  readonly values: Readonly<Record<string, string>>;
  /** Figures that count up from a start of their own. */
  readonly counters: readonly string[];
}

export interface PrometheusProbeSource {
  readonly type: 'prometheus';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Figure → selector such as `http_requests_total{code="200"}`; all series that fit are summed. */
  readonly series: Readonly<Record<string, string>>;
  /** Figures that count up, beside those whose names tell it. */
  readonly counters: readonly string[];
  /** Figures of a known exporter, beside `series`. */
  readonly preset: ExporterPreset | null;
}

export type ExporterPreset = 'node' | 'emqx' | 'rocketmq-exporter' | 'mysqld' | 'redis';

export interface EmqxProbeSource {
  readonly type: 'emqx';
  readonly url: string;
  /** Ids of the rules that count; empty: all. */
  readonly rules: readonly string[];
  /** Names of the sinks that count (`type:name`, or a resource of 4.x); empty: all. */
  readonly sinks: readonly string[];
}

/** Requests that a rule engine posts. */
export interface WebhookProbeSource {
  readonly type: 'webhook';
  /** Of a receiver that runs elsewhere; empty where the controller listens itself. */
  readonly url: string;
  readonly listen: { readonly host: string; readonly port: number } | null;
}

/** The host of an agent, which is chosen by its id or by labels that only one agent has. */
export interface HostProbeSource {
  readonly type: 'host';
  readonly agent: string | null;
  readonly labels: Readonly<Record<string, string>>;
}

export interface RocketmqProbeSource {
  readonly type: 'rocketmq';
  /** `host:port` each. */
  readonly nameServers: readonly string[];
  readonly acl: { readonly accessKey: string; readonly secretKey: string } | null;
  /** Null: plain connections. `servername`: null is the host's. */
  readonly tls: { readonly verify: boolean; readonly servername: string | null } | null;
  /** Whose messages are counted. */
  readonly topics: readonly string[];
  /** Whose reading is counted. */
  readonly groups: readonly string[];
}
