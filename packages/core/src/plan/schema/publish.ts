import { z } from 'zod';
import { MAX_BATCH, MAX_IN_FLIGHT, MAX_TOPIC_WEIGHT, MAX_TOPICS } from '../limits.ts';
import { choice, count, flag, name, share, size, someDuration, strictMap } from './leaves.ts';
import { interval, messageProperties, qos } from './messages.ts';
import { paceWords } from './paces.ts';
import { payload } from './payloads.ts';
import { clientTopicTemplate, fileTemplate, propertyTemplate, topicTemplate } from './templates.ts';

const weightedTopic = strictMap({
  topic: topicTemplate().describe('Topic, a template.'),
  weight: count({
    min: 1,
    max: MAX_TOPIC_WEIGHT,
    range: `1 to ${MAX_TOPIC_WEIGHT}`,
  })
    .prefault(1)
    .describe('How many messages of each round go to it.'),
});

const topicsFile = strictMap({
  file: fileTemplate().describe(
    'File with one topic a line, or CSV with the columns `topic` and `weight`. Its topics become part of the plan.',
  ),
});

const topic = z.union([
  topicTemplate(),
  topicsFile,
  z
    .array(z.union([topicTemplate(), weightedTopic]))
    .min(1)
    .max(MAX_TOPICS),
]);

const request = strictMap({
  responseTopic: clientTopicTemplate().describe(
    'Topic on which a client wants its answers, a template; the client subscribes to it by itself.',
  ),
  qos: qos().describe('QoS of that subscription.'),
  timeout: someDuration().prefault('10s').describe('An answer that comes later counts as none.'),
});

const topicAlias = z
  .union([count({ min: 1, max: 65_535, range: '1 to 65535, or true' }), flag()])
  .meta({ 'x-unit': 'count or `true`' });

export const publish = strictMap({
  name: name().optional().describe('Name of the stream; needed in a list of several.'),
  topic: topic.describe(
    'Topic, a template; or a list of topics, with weights where wanted; or `{ file: topics.txt }`. Of several topics each client takes one after the other.',
  ),
  qos: qos().describe('QoS of the messages.'),
  retain: flag().prefault(false).describe('Sets the RETAIN flag.'),
  payload: payload.describe(
    'A size, or a map with one of `size`, `text`, `hex`, `template`, `json`, `file`, `files`. Made-up payloads carry the stamp (40 bytes) by which delivery is measured and verified; `template` and `json` carry one where `{{stamp}}` stands in them.',
  ),
  ...paceWords,
  arrivals: choice(['even', 'poisson'])
    .prefault('even')
    .describe(
      'How due times are spread: evenly, or as a Poisson process over the whole group, the same in every run.',
    ),
  phase: choice(['even', 'random'])
    .prefault('even')
    .describe(
      'Where in its period each client begins: evenly spread, or at random places that are the same in every run.',
    ),
  inflight: count({
    min: 1,
    max: MAX_IN_FLIGHT,
    range: `1 to ${MAX_IN_FLIGHT}`,
  })
    .optional()
    .describe('Unacknowledged messages a client; by default 32, with `rate: max` 1.'),
  ackTimeout: someDuration().prefault('30s').describe('After it a message counts as failed.'),
  count: count({ min: 1, max: Number.MAX_SAFE_INTEGER, range: 'at least 1' })
    .optional()
    .describe('Exact number of messages over the whole group, in each stage that runs the stream.'),
  verify: choice(['on', 'off', 'true', 'false'])
    .optional()
    .describe(
      'Whether payloads carry the stamp: `on` for made-up payloads, which must then have 40 bytes, and for templates with `{{stamp}}` in them; `off` for all others.',
    ),
  properties: strictMap(messageProperties).optional().describe('Properties of PUBLISH (MQTT 5).'),
  topicAlias: topicAlias
    .optional()
    .describe(
      'Topic aliases that a client uses, as far as the broker lets it; `true`: as many (MQTT 5).',
    ),
  expiry: interval().optional().describe('Expiry of messages, whole seconds (MQTT 5).'),
  batch: count({ min: 1, max: MAX_BATCH, range: `1 to ${MAX_BATCH}` })
    .optional()
    .describe('Messages of a client in one request (RocketMQ); 1 by default.'),
  keys: propertyTemplate().optional().describe('Keys of messages, a template (RocketMQ).'),
  tags: propertyTemplate().optional().describe('Tag of messages, a template (RocketMQ).'),
  delayLevel: count({ min: 1, max: 18, range: '1 to 18' })
    .optional()
    .describe(
      'Level of delay, 1 (1 s) to 18 (2 h), after which messages are delivered (RocketMQ).',
    ),
  shardingKey: propertyTemplate()
    .optional()
    .describe('Key that chooses the queue, a template; by turn without it (RocketMQ).'),
  ordered: flag()
    .optional()
    .describe('One message at a time on a queue, so that it keeps their order (RocketMQ).'),
  queue: count({ min: 0, max: 65_535, range: '0 to 65535' })
    .optional()
    .describe('The one queue of each broker that is written to (RocketMQ).'),
  compress: size()
    .optional()
    .describe('Bodies of so many bytes and more are compressed (RocketMQ).'),
  oneway: flag()
    .optional()
    .describe('No answer is asked for: such messages count as QoS 0 (RocketMQ).'),
  transaction: strictMap({
    rollback: share().prefault('0%').describe('Share of half messages that are rolled back.'),
    unknown: share()
      .prefault('0%')
      .describe('Share that is left open until the broker asks; it is committed then.'),
  })
    .optional()
    .describe('Half messages that are committed, but for these shares (RocketMQ).'),
  request: request
    .optional()
    .describe(
      'Each message asks for an answer, and the time until it comes is measured. With MQTT 5 the message carries response topic and correlation data; before, who answers must know the topic and send the payload back.',
    ),
});

export type RequestFile = z.output<typeof request>;
export type TopicFile = z.output<typeof topic>;
