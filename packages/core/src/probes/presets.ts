import type { ExporterPreset } from '../plan/probe-spec.ts';
import type { FigureInfo, FigureUnit } from './figures.ts';

/** How a figure is made of series. */
interface PresetFigure extends FigureInfo {
  /** Selectors: the first one that the page has is taken, since versions name things differently. */
  readonly from: readonly string[];
  /** What is told by several members of a cluster alike is not summed. */
  readonly combine: 'sum' | 'max';
  /** What the server's unit is multiplied by. */
  readonly scale: number;
}

export type PresetFigures = Readonly<Record<string, PresetFigure>>;

const counter = (unit: FigureUnit, ...from: string[]): PresetFigure => ({
  from,
  kind: 'counter',
  unit,
  combine: 'sum',
  scale: 1,
});

const gauge = (unit: FigureUnit, ...from: string[]): PresetFigure => ({
  ...counter(unit, ...from),
  kind: 'gauge',
});

const highest = (unit: FigureUnit, ...from: string[]): PresetFigure => ({
  ...gauge(unit, ...from),
  combine: 'max',
});

/** The pages of EMQX: `prometheus/stats`, and `prometheus/data_integration` for rules and actions. */
const EMQX: PresetFigures = {
  connections: gauge('count', 'emqx_live_connections_count', 'emqx_connections_count'),
  sessions: gauge('count', 'emqx_sessions_count'),
  subscriptions: gauge('count', 'emqx_subscriptions_count'),
  topics: highest('count', 'emqx_topics_count'),
  messages_in: counter('count', 'emqx_messages_received'),
  messages_out: counter('count', 'emqx_messages_sent'),
  messages_dropped: counter('count', 'emqx_delivery_dropped'),
  bytes_in: counter('bytes', 'emqx_bytes_received'),
  bytes_out: counter('bytes', 'emqx_bytes_sent'),
  cpu_used: { ...highest('share', 'emqx_vm_cpu_use'), scale: 0.01 },
  cpu_idle: { ...highest('share', 'emqx_vm_cpu_idle'), scale: 0.01 },
  memory_used: gauge('bytes', 'emqx_vm_used_memory'),
  run_queue: gauge('count', 'emqx_vm_run_queue'),
  'rule.hits': counter('count', 'emqx_rule_matched'),
  'rule.success': counter('count', 'emqx_rule_actions_success'),
  'rule.failed': counter('count', 'emqx_rule_actions_failed'),
  'sink.success': counter('count', 'emqx_action_success'),
  'sink.failed': counter('count', 'emqx_action_failed'),
  'sink.dropped': counter('count', 'emqx_action_dropped'),
  'sink.inflight': gauge('count', 'emqx_action_inflight'),
};

const ROCKETMQ_EXPORTER: PresetFigures = {
  put_rate: gauge('per_second', 'rocketmq_broker_tps'),
  get_rate: gauge('per_second', 'rocketmq_broker_qps'),
  produce_rate: gauge('per_second', 'rocketmq_producer_tps'),
  consume_rate: gauge('per_second', 'rocketmq_consumer_tps'),
  produce_bytes: gauge('bytes_per_second', 'rocketmq_producer_message_size'),
  consume_bytes: gauge('bytes_per_second', 'rocketmq_consumer_message_size'),
  stored: counter('count', 'rocketmq_producer_offset'),
  consumed: counter('count', 'rocketmq_consumer_offset'),
  lag: gauge('count', 'rocketmq_message_accumulation', 'rocketmq_group_diff'),
  disk_used: highest('share', 'rocketmq_brokeruntime_commitlog_disk_ratio'),
};

const MYSQLD: PresetFigures = {
  queries: counter('count', 'mysql_global_status_queries'),
  questions: counter('count', 'mysql_global_status_questions'),
  slow_queries: counter('count', 'mysql_global_status_slow_queries'),
  inserts: counter('count', 'mysql_global_status_commands_total{command="insert"}'),
  rows_written: counter('count', 'mysql_global_status_handlers_total{handler="write"}'),
  connections: gauge('count', 'mysql_global_status_threads_connected'),
  running: gauge('count', 'mysql_global_status_threads_running'),
  bytes_in: counter('bytes', 'mysql_global_status_bytes_received'),
  bytes_out: counter('bytes', 'mysql_global_status_bytes_sent'),
  up: highest('count', 'mysql_up'),
};

const REDIS: PresetFigures = {
  commands: counter('count', 'redis_commands_processed_total'),
  connections: gauge('count', 'redis_connected_clients'),
  blocked: gauge('count', 'redis_blocked_clients'),
  memory_used: gauge('bytes', 'redis_memory_used_bytes'),
  bytes_in: counter('bytes', 'redis_net_input_bytes_total'),
  bytes_out: counter('bytes', 'redis_net_output_bytes_total'),
  hits: counter('count', 'redis_keyspace_hits_total'),
  misses: counter('count', 'redis_keyspace_misses_total'),
  evicted: counter('count', 'redis_evicted_keys_total'),
  cpu_user: counter('seconds', 'redis_cpu_user_seconds_total'),
  cpu_system: counter('seconds', 'redis_cpu_sys_seconds_total'),
  keys: gauge('count', 'redis_db_keys'),
  up: highest('count', 'redis_up'),
};

/** Figures of known exporters, by the preset's name. `node` is a probe of its own: it has shares. */
export const PRESETS: Readonly<Record<Exclude<ExporterPreset, 'node'>, PresetFigures>> = {
  emqx: EMQX,
  'rocketmq-exporter': ROCKETMQ_EXPORTER,
  mysqld: MYSQLD,
  redis: REDIS,
};

export const PRESET_NAMES: readonly [ExporterPreset, ...ExporterPreset[]] = [
  'node',
  'emqx',
  'rocketmq-exporter',
  'mysqld',
  'redis',
];
