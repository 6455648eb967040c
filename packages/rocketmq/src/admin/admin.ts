import { type RemotingCommand } from '../codec/command.ts';
import {
  canonicalJson,
  type JsonObject,
  type JsonValue,
  parseLenientJson,
} from '../codec/lenient-json.ts';
import { RequestCode } from '../codec/request-code.ts';
import { ResponseCode } from '../codec/response-code.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { ClientParts } from '../client/client-parts.ts';
import { successOf } from '../connections/answers.ts';
import { compareText, readableQueues, type TopicQueue } from '../route/topic-queues.ts';
import { checkGroupName, checkTopicName } from './names.ts';

export interface TopicSettings {
  /** On each broker [8]. */
  readonly queues?: number;
  /** Bits of `Permission` [6: read and write]. */
  readonly permissions?: number;
}

export interface GroupSettings {
  /** Deliveries of a message that fails, before it goes to the dead-letter topic [16]. */
  readonly retries?: number;
  /** Whether broadcasting members may read [true]. */
  readonly broadcast?: boolean;
}

/** What a group has left to read of one queue. */
export interface QueueLag {
  readonly topic: string;
  readonly brokerName: string;
  readonly queueId: number;
  readonly brokerOffset: number;
  readonly consumerOffset: number;
}

/** First and next offset of a queue: what lies between them is stored. */
export interface QueueRange {
  readonly min: number;
  readonly max: number;
}

/** Topics, groups, offsets and the broker's own figures. Under ACL most of it takes an administrator. */
export class Admin {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** The masters that the name server knows, by broker name. */
  async masters(): Promise<Map<string, string>> {
    const masters = new Map<string, string>();
    for (const { brokerName, addresses } of await this.#parts.nameServers.brokers()) {
      const master = addresses.get(0);
      if (master !== undefined) masters.set(brokerName, master);
    }
    return masters;
  }

  /** Whether the name servers know the topic. @throws RocketmqError CONNECT */
  async hasTopic(topic: string): Promise<boolean> {
    return (await this.#parts.nameServers.route(topic)) !== null;
  }

  /**
   * Makes a topic, or changes it, on every master. It is routable afterwards.
   *
   * @throws RocketmqError ANSWER (NO_PERMISSION without an administrator's account), ARGUMENT, ROUTE
   */
  async createTopic(topic: string, settings: TopicSettings = {}): Promise<void> {
    checkTopicName(topic);
    const queues = String(settings.queues ?? 8);
    const ext = {
      topic,
      defaultTopic: 'TBW102',
      readQueueNums: queues,
      writeQueueNums: queues,
      perm: String(settings.permissions ?? 6),
      topicFilterType: 'SINGLE_TAG',
      topicSysFlag: '0',
      order: 'false',
    };
    await this.#askMasters({ code: RequestCode.updateAndCreateTopic, ext });
    await this.#parts.routes.find(topic, this.#parts.routeWaitMs);
  }

  /**
   * Takes a topic from every master, and its route from the name servers.
   *
   * @throws RocketmqError ANSWER, ROUTE
   */
  async deleteTopic(topic: string): Promise<void> {
    await this.#askMasters({ code: RequestCode.deleteTopicInBroker, ext: { topic } });
    await this.#parts.nameServers.forgetTopic(topic);
  }

  /** @throws RocketmqError ANSWER, ARGUMENT, ROUTE */
  async createGroup(group: string, settings: GroupSettings = {}): Promise<void> {
    checkGroupName(group);
    const body = {
      groupName: group,
      consumeEnable: true,
      consumeFromMinEnable: true,
      consumeBroadcastEnable: settings.broadcast ?? true,
      retryQueueNums: 1,
      retryMaxTimes: settings.retries ?? 16,
      brokerId: 0,
      whichBrokerWhenConsumeSlowly: 1,
      notifyConsumerIdsChangedEnable: true,
    };
    const code = RequestCode.updateAndCreateSubscriptionGroup;
    await this.#askMasters({ code, body: Buffer.from(JSON.stringify(body)) });
  }

  /** Names of all groups, of any broker; those that a broker made by itself are among them. @throws RocketmqError ANSWER, ROUTE */
  async groups(): Promise<Set<string>> {
    const answers = await this.#askMasters({ code: RequestCode.getAllSubscriptionGroups });
    return new Set(
      answers.flatMap(({ body }) =>
        Object.keys(memberOf(parseLenientJson(body.toString()), 'subscriptionGroupTable')),
      ),
    );
  }

  /** @throws RocketmqError ANSWER, ROUTE */
  async deleteGroup(group: string): Promise<void> {
    await this.#askMasters({
      code: RequestCode.deleteSubscriptionGroup,
      ext: { groupName: group },
    });
  }

  /**
   * The readable queues of a topic with what is stored in each. After an acknowledged send the upper
   * end may lag by up to a second.
   *
   * @throws RocketmqError ROUTE, ANSWER (ACL 2.0 wants Get on the topic)
   */
  async ranges(topic: string): Promise<Map<TopicQueue, QueueRange>> {
    const route = await this.#parts.routes.find(topic, 0);
    const entries = await Promise.all(
      readableQueues(topic, route).map(async (queue): Promise<[TopicQueue, QueueRange]> => {
        const [min, max] = await Promise.all([
          this.#offset(queue, RequestCode.getMinOffset),
          this.#offset(queue, RequestCode.getMaxOffset),
        ]);
        return [queue, { min, max }];
      }),
    );
    return new Map(entries);
  }

  /** Sum of the next offsets of all queues: what it grew by is what was stored. */
  async storedTotal(topic: string): Promise<number> {
    let total = 0;
    for (const { max } of (await this.ranges(topic)).values()) total += max;
    return total;
  }

  /** The next offset of a queue. @throws RocketmqError ANSWER */
  maxOffset(queue: TopicQueue): Promise<number> {
    return this.#offset(queue, RequestCode.getMaxOffset);
  }

  /** The first offset that is still stored. @throws RocketmqError ANSWER */
  minOffset(queue: TopicQueue): Promise<number> {
    return this.#offset(queue, RequestCode.getMinOffset);
  }

  /**
   * The offset of the first message stored at a time or later. Beyond the newest message 4.x gives the
   * last message's own offset.
   *
   * @throws RocketmqError ANSWER
   */
  async offsetAt(queue: TopicQueue, timestampMs: number): Promise<number> {
    const { topic, queueId } = queue;
    const ext = { topic, queueId: String(queueId), timestamp: String(timestampMs) };
    const answer = await this.#success(queue.address, {
      code: RequestCode.searchOffsetByTimestamp,
      ext,
    });
    return offsetOf(answer);
  }

  /**
   * Where a group goes on reading a queue, or null where it never committed. 4.x answers 0 for a group
   * that it does not know, as long as the queue starts at 0 (`committedTopics` tells them apart).
   *
   * @throws RocketmqError ANSWER
   */
  async committedOffset(group: string, queue: TopicQueue): Promise<number | null> {
    const ext = {
      consumerGroup: group,
      topic: queue.topic,
      queueId: String(queue.queueId),
      setZeroIfNotFound: 'false',
    };
    const answer = await this.#parts.requester.ask(queue.address, {
      code: RequestCode.queryConsumerOffset,
      ext,
    });
    if (answer.code === ResponseCode.queryNotFound) return null;
    return offsetOf(successOf(answer, queue.address));
  }

  /** @throws RocketmqError ANSWER (5.x: 26 for a group that it never saw) */
  async commitOffset(group: string, queue: TopicQueue, offset: number): Promise<void> {
    const ext = {
      consumerGroup: group,
      topic: queue.topic,
      queueId: String(queue.queueId),
      commitOffset: String(offset),
    };
    await this.#success(queue.address, { code: RequestCode.updateConsumerOffset, ext });
  }

  /**
   * What a group has left to read, by queue, of all topics it has committed offsets of.
   *
   * @throws RocketmqError ANSWER (ACL 2.0 wants Get on the group), ROUTE
   */
  async lag(group: string): Promise<QueueLag[]> {
    const parts = { code: RequestCode.getConsumeStats, ext: { consumerGroup: group } };
    const answers = await this.#askMasters(parts);
    return answers.flatMap((answer) => lagOf(answer.body.toString()));
  }

  /** The broker's own figures, as it names them; all values are texts. @throws RocketmqError ANSWER */
  async runtimeInfo(address: string): Promise<Record<string, string>> {
    const answer = await this.#success(address, { code: RequestCode.getBrokerRuntimeInfo });
    const table = memberOf(parseLenientJson(answer.body.toString()), 'table');
    return Object.fromEntries(
      Object.entries(table).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : canonicalJson(value),
      ]),
    );
  }

  /** A broker's configuration as it lists it; unknown keys are listed, too. @throws RocketmqError ANSWER */
  async brokerConfig(address: string): Promise<Record<string, string>> {
    const answer = await this.#success(address, { code: RequestCode.getBrokerConfig });
    const config: Record<string, string> = {};
    for (const line of answer.body.toString().split('\n')) {
      const at = line.indexOf('=');
      if (at > 0) config[line.slice(0, at)] = line.slice(at + 1);
    }
    return config;
  }

  /** Changes keys of a running broker; unknown keys are taken without a word. @throws RocketmqError ANSWER */
  async updateBrokerConfig(
    address: string,
    config: Readonly<Record<string, string>>,
  ): Promise<void> {
    const lines = Object.entries(config).map(([key, value]) => `${key}=${value}\n`);
    const body = Buffer.from(lines.join(''));
    await this.#success(address, { code: RequestCode.updateBrokerConfig, body });
  }

  async #offset(queue: TopicQueue, code: number): Promise<number> {
    const ext = { topic: queue.topic, queueId: String(queue.queueId) };
    return offsetOf(await this.#success(queue.address, { code, ext }));
  }

  async #askMasters(parts: {
    code: number;
    ext?: Record<string, string>;
    body?: Buffer;
  }): Promise<RemotingCommand[]> {
    const masters = await this.masters();
    if (masters.size === 0) {
      throw new RocketmqError(
        'ROUTE',
        `name server ${this.#parts.nameServers.current} knows no broker`,
      );
    }
    return Promise.all([...masters.values()].map((address) => this.#success(address, parts)));
  }

  async #success(
    address: string,
    parts: { code: number; ext?: Record<string, string>; body?: Buffer },
  ): Promise<RemotingCommand> {
    return successOf(await this.#parts.requester.ask(address, parts), address);
  }
}

function offsetOf(answer: RemotingCommand): number {
  const offset = Number(answer.ext['offset'] ?? Number.NaN);
  if (Number.isSafeInteger(offset)) return offset;
  throw new RocketmqError('HEADER', 'an answer without its offset');
}

/** The table's keys are whole objects, in every version. */
function lagOf(text: string): QueueLag[] {
  const table = memberOf(parseLenientJson(text), 'offsetTable');
  return Object.entries(table)
    .map(([key, value]) => {
      const queue = objectOf(parseLenientJson(key));
      const figures = objectOf(value);
      return {
        topic: textOf(queue['topic']),
        brokerName: textOf(queue['brokerName']),
        queueId: Number(queue['queueId']),
        brokerOffset: Number(figures['brokerOffset']),
        consumerOffset: Number(figures['consumerOffset']),
      };
    })
    .toSorted((a, b) => compareText(a.brokerName, b.brokerName) || a.queueId - b.queueId);
}

function memberOf(value: JsonValue, name: string): JsonObject {
  return objectOf(objectOf(value)[name] ?? null);
}

function objectOf(value: JsonValue): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new RocketmqError('TEXT', 'an answer that is no object');
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
