import { streamTopics } from '../schedule/index.ts';
import type {
  Group,
  MessageProperties,
  Payload,
  RocketmqPublish,
  Target,
  UserProperty,
} from './plan.ts';

/** Every template that is rendered for clients of a group, those of its target included. */
export function groupTemplates(group: Group, target: Target | undefined): string[] {
  const { connect } = group;
  return [
    group.clientId,
    group.username,
    group.password,
    ...targetTexts(target),
    ...(connect.will === null
      ? []
      : [
          connect.will.topic,
          ...payloadTexts(connect.will.payload),
          ...propertyTexts(connect.will.properties),
        ]),
    ...valuesOf(connect.properties?.userProperties ?? []),
    ...group.publish.flatMap((stream) => [
      ...streamTopics(stream),
      ...payloadTexts(stream.payload),
      ...propertyTexts(stream.properties),
      ...rocketmqTexts(stream.rocketmq),
      stream.request?.responseTopic ?? null,
    ]),
    ...group.subscribe.flatMap(({ topics, consume }) => [...topics, consume?.group ?? null]),
    ...group.respond.flatMap((entry) => [
      ...entry.topics,
      entry.to,
      ...payloadTexts(entry.payload),
    ]),
  ].filter((text) => text !== null);
}

function targetTexts(target: Target | undefined): (string | null)[] {
  if (target === undefined) return [];
  if (target.protocol === 'rocketmq') {
    return [target.acl?.accessKey ?? null, target.acl?.secretKey ?? null];
  }
  const { tls, ws } = target;
  return [tls?.cert ?? null, tls?.key ?? null, ...Object.values(ws?.headers ?? {})];
}

function rocketmqTexts(stream: RocketmqPublish | undefined): (string | null)[] {
  if (stream === undefined) return [];
  const { keys, tags, shardingKey, userProperties } = stream;
  return [keys, tags, shardingKey, ...valuesOf(userProperties)];
}

function payloadTexts(payload: Payload | null): string[] {
  return payload?.kind === 'template' || payload?.kind === 'json' ? [payload.template] : [];
}

function propertyTexts(properties: MessageProperties | null): (string | null)[] {
  if (properties === null) return [];
  const { contentType, responseTopic, correlationData, userProperties } = properties;
  return [contentType, responseTopic, correlationData, ...valuesOf(userProperties)];
}

function valuesOf(properties: readonly UserProperty[]): string[] {
  return properties.map(({ value }) => value);
}
