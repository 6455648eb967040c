import { type JsonObject, type JsonValue, parseLenientJson } from './lenient-json.ts';
import { RocketmqError } from './rocketmq-error.ts';

/** Bits of a topic's permissions. Brokers do not enforce the write bit: clients must. */
export const Permission = { inherit: 1, write: 2, read: 4 } as const;

interface QueueData {
  readonly brokerName: string;
  readonly readQueues: number;
  readonly writeQueues: number;
  readonly permissions: number;
}

export interface BrokerData {
  readonly cluster: string;
  readonly brokerName: string;
  /** By broker id; 0 is the master. */
  readonly addresses: ReadonlyMap<number, string>;
}

export interface TopicRoute {
  readonly queues: readonly QueueData[];
  readonly brokers: readonly BrokerData[];
  /** `broker-a:4;broker-b:4` where somebody fixed the order of queues; else empty. */
  readonly orderConfig: string;
}

/**
 * The route of a topic as any name server writes it.
 *
 * @throws RocketmqError TEXT
 */
export function parseTopicRoute(text: string): TopicRoute {
  const route = objectOf(parseLenientJson(text), 'route');
  return {
    queues: listOf(route, 'queueDatas').map((value) => queueData(objectOf(value, 'queueDatas'))),
    brokers: listOf(route, 'brokerDatas').map((value) =>
      brokerData(objectOf(value, 'brokerDatas')),
    ),
    orderConfig: typeof route['orderTopicConf'] === 'string' ? route['orderTopicConf'] : '',
  };
}

/**
 * The brokers of all clusters a name server knows (its answer to GET_BROKER_CLUSTER_INFO).
 *
 * @throws RocketmqError TEXT
 */
export function parseClusterBrokers(text: string): BrokerData[] {
  const info = objectOf(parseLenientJson(text), 'cluster info');
  const table = objectOf(info['brokerAddrTable'] ?? null, 'brokerAddrTable');
  return Object.values(table).map((value) => brokerData(objectOf(value, 'brokerAddrTable')));
}

function queueData(value: JsonObject): QueueData {
  return {
    brokerName: textOf(value, 'brokerName'),
    readQueues: numberOf(value, 'readQueueNums'),
    writeQueues: numberOf(value, 'writeQueueNums'),
    permissions: numberOf(value, 'perm'),
  };
}

function brokerData(value: JsonObject): BrokerData {
  const addresses = new Map<number, string>();
  for (const [id, address] of Object.entries(
    objectOf(value['brokerAddrs'] ?? null, 'brokerAddrs'),
  )) {
    if (typeof address === 'string' && /^\d+$/.test(id)) addresses.set(Number(id), address);
  }
  const cluster = value['cluster'];
  return {
    cluster: typeof cluster === 'string' ? cluster : '',
    brokerName: textOf(value, 'brokerName'),
    addresses,
  };
}

function objectOf(value: JsonValue, what: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new RocketmqError('TEXT', `${what} is no JSON object`);
}

function listOf(value: JsonObject, name: string): JsonValue[] {
  const list = value[name] ?? [];
  if (Array.isArray(list)) return list;
  throw new RocketmqError('TEXT', `${name} is no list`);
}

function textOf(value: JsonObject, name: string): string {
  const text = value[name];
  if (typeof text === 'string') return text;
  throw new RocketmqError('TEXT', `${name} is no text`);
}

function numberOf(value: JsonObject, name: string): number {
  const number = value[name];
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw new RocketmqError('TEXT', `${name} is no whole number`);
}
