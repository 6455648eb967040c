import { javaHash } from '../codec/java-hash.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { ConsumerOptions, MessageFilter, StartFrom } from './consumer-options.ts';

const START_NAMES: Readonly<Record<StartFrom['at'], string>> = {
  first: 'CONSUME_FROM_FIRST_OFFSET',
  last: 'CONSUME_FROM_LAST_OFFSET',
  timestamp: 'CONSUME_FROM_TIMESTAMP',
  offset: 'CONSUME_FROM_FIRST_OFFSET',
};

/** The tags of a filter; none where it takes every message, or is no tag filter. */
export function tagsOf(filter: MessageFilter): string[] {
  if (filter.type !== 'TAG' || filter.expression.trim() === '*') return [];
  const tags = filter.expression.split('||').map((tag) => tag.trim());
  if (tags.every((tag) => tag !== '')) return tags;
  throw new RocketmqError('ARGUMENT', `${JSON.stringify(filter.expression)} is no tag filter`, {
    hint: '`*`, `TagA` or `TagA || TagB`',
  });
}

export function retryTopicOf(group: string): string {
  return `%RETRY%${group}`;
}

/** Body of a member's heartbeat. The broker takes its subscriptions for those of the whole group. */
export function heartbeatBody(
  options: ConsumerOptions,
  filter: MessageFilter,
  member: { clientId: string; subVersion: number; withRetryTopic: boolean },
): Buffer {
  const { clientId, subVersion } = member;
  const subscription = (topic: string, of: MessageFilter): object => {
    const tags = tagsOf(of);
    return {
      topic,
      subString: of.expression,
      tagsSet: tags,
      // Without these hashes a tag subscription matches nothing.
      codeSet: tags.map(javaHash),
      subVersion,
      expressionType: of.type,
      classFilterMode: false,
    };
  };
  const retry = { type: 'TAG', expression: '*' } as const;
  const consumer = {
    groupName: options.group,
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: options.sharing?.by === 'broadcast' ? 'BROADCASTING' : 'CLUSTERING',
    consumeFromWhere: START_NAMES[options.from?.at ?? 'last'],
    unitMode: false,
    subscriptionDataSet: [
      subscription(options.topic, filter),
      ...(member.withRetryTopic ? [subscription(retryTopicOf(options.group), retry)] : []),
    ],
  };
  return Buffer.from(
    JSON.stringify({ clientID: clientId, producerDataSet: [], consumerDataSet: [consumer] }),
  );
}
