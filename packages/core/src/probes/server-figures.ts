import type { FigureInfo } from './figures.ts';

type Figures = Readonly<Record<string, FigureInfo>>;

const counter = { kind: 'counter', unit: 'count' } as const;
const counterOfBytes = { kind: 'counter', unit: 'bytes' } as const;
const gauge = { kind: 'gauge', unit: 'count' } as const;
const size = { kind: 'gauge', unit: 'bytes' } as const;
const share = { kind: 'gauge', unit: 'share' } as const;
const pace = { kind: 'gauge', unit: 'per_second' } as const;

/** Of the management API of EMQX 4.x and 5.x, all nodes of the cluster together. */
export const EMQX_FIGURES: Figures = {
  connections: gauge,
  sessions: gauge,
  subscriptions: gauge,
  topics: gauge,
  messages_in: counter,
  messages_out: counter,
  messages_dropped: counter,
  messages_without_subscriber: counter,
  bytes_in: counterOfBytes,
  bytes_out: counterOfBytes,
  'rule.hits': counter,
  'rule.success': counter,
  'rule.failed': counter,
  'rule.open': gauge,
  'sink.success': counter,
  'sink.failed': counter,
  'sink.queuing': gauge,
  'sink.inflight': gauge,
  'sink.open': gauge,
  nodes: gauge,
  load: gauge,
  memory_used: size,
  memory_total: size,
  processes: gauge,
};

/** Of the `$SYS` topics of Mosquitto. */
export const MOSQUITTO_FIGURES: Figures = {
  connections: gauge,
  sessions: gauge,
  subscriptions: gauge,
  retained: gauge,
  stored: gauge,
  messages_in: counter,
  messages_out: counter,
  messages_dropped: counter,
  bytes_in: counterOfBytes,
  bytes_out: counterOfBytes,
  memory_used: size,
};

/** Of the management API of RabbitMQ, all nodes of the cluster together. */
export const RABBITMQ_FIGURES: Figures = {
  connections: gauge,
  consumers: gauge,
  queues: gauge,
  messages_queued: gauge,
  messages_ready: gauge,
  messages_unacknowledged: gauge,
  messages_in: counter,
  messages_confirmed: counter,
  messages_out: counter,
  messages_acknowledged: counter,
  messages_redelivered: counter,
  messages_dropped: counter,
  connections_opened: counter,
  connections_closed: counter,
  nodes: gauge,
  alarms: gauge,
  memory_used: size,
  disk_free: size,
  processes: gauge,
  run_queue: gauge,
};

/** Of the brokers of RocketMQ, all masters together. */
const ROCKETMQ_BROKERS: Figures = {
  brokers: gauge,
  put_rate: pace,
  get_rate: pace,
  send_queue: gauge,
  dispatch_behind: size,
  commit_log: counterOfBytes,
  disk_used: share,
};

/** `stored` needs topics, `consumed` and `lag` need groups. */
export function rocketmqFigures(source: {
  readonly topics: readonly string[];
  readonly groups: readonly string[];
}): Figures {
  return {
    ...ROCKETMQ_BROKERS,
    ...(source.topics.length > 0 ? { stored: counter } : {}),
    ...(source.groups.length > 0 ? { consumed: counter, lag: gauge } : {}),
  };
}
