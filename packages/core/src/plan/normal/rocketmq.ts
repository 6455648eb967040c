import { compileTemplate } from '../../template/index.ts';
import { MAX_ROCKETMQ_BODY } from '../limits.ts';
import type {
  ConsumeFrom,
  ConsumeSpec,
  Pace,
  Payload,
  PublishStream,
  RocketmqPublish,
  SubscribeEntry,
} from '../plan.ts';
import type { ConsumeFile, GroupFile, PublishFile } from '../schema/plan-file.ts';
import type { GroupPlace } from './context.ts';
import { payloadBytes } from './payloads.ts';
import { normaliseUserProperties } from './properties.ts';

/** As `Validators` of the official client. */
const NAME = /^[%|a-zA-Z0-9_-]+$/;
const TOPIC_MAX = 127;
const GROUP_MAX = 255;

/** Words of streams that only RocketMQ knows. */
const ONLY_ROCKETMQ = [
  'batch',
  'keys',
  'tags',
  'delayLevel',
  'shardingKey',
  'ordered',
  'queue',
  'compress',
  'oneway',
  'transaction',
] as const;
/** And those that it does not know. */
const ONLY_MQTT = ['topicAlias', 'expiry', 'request'] as const;
const ONLY_MQTT_PROPERTIES = [
  'contentType',
  'responseTopic',
  'correlationData',
  'payloadFormat',
] as const;

/** Tells words of a group that its protocol does not have. */
export function checkProtocol(group: GroupFile, place: GroupPlace): void {
  if (place.target.protocol === 'mqtt') {
    if (group.consume !== undefined) {
      refuse(place, 'consume', 'consume is for RocketMQ: MQTT has subscribe');
    }
    return;
  }
  if (place.target.protocol !== 'rocketmq') return;
  for (const word of ['subscribe', 'respond', 'username', 'password', 'sourceAddresses'] as const) {
    if (group[word] === undefined) continue;
    const instead = word === 'subscribe' ? ': write consume' : '';
    refuse(place, word, `${word} is for MQTT${instead}`);
  }
  const { will, properties, auth, sessionExpiry } = group.connect;
  for (const [word, given] of Object.entries({ will, properties, auth, sessionExpiry })) {
    if (given !== undefined) refuse(place, ['connect', word], `${word} is for MQTT`);
  }
  if (!group.connect.cleanStart) {
    refuse(
      place,
      ['connect', 'cleanStart'],
      'RocketMQ has no sessions: the offsets of a group stay',
    );
  }
}

/** Tells words of a stream that its protocol does not have. */
export function checkStreamWords(stream: PublishFile, place: GroupPlace): void {
  const { protocol } = place.target;
  if (protocol === 'mqtt') {
    for (const word of ONLY_ROCKETMQ) {
      if (stream[word] !== undefined) refuse(place, word, `${word} is for RocketMQ`);
    }
  }
  if (protocol !== 'rocketmq') return;
  for (const word of ONLY_MQTT) {
    if (stream[word] !== undefined && stream[word] !== false) {
      refuse(place, word, `${word} is for MQTT`);
    }
  }
  for (const word of ONLY_MQTT_PROPERTIES) {
    if (stream.properties?.[word] === undefined) continue;
    refuse(place, ['properties', word], `${word} is for MQTT: RocketMQ has userProperties`);
  }
  if (stream.qos !== '0') {
    refuse(
      place,
      'qos',
      'RocketMQ has no QoS: what it stores is acknowledged, but for oneway: true',
    );
  }
  if (stream.retain) refuse(place, 'retain', 'RocketMQ retains nothing');
}

/** What RocketMQ has besides; undefined in a stream of MQTT. */
export function normaliseRocketmqPublish(
  stream: PublishFile,
  about: { readonly pace: Pace; readonly payload: Payload; readonly topic: PublishStream['topic'] },
  place: GroupPlace,
): RocketmqPublish | undefined {
  if (place.target.protocol !== 'rocketmq') return undefined;
  const { context, path } = place;
  checkTopic(about.topic, place);
  checkTogether(stream, place);
  const bytes = payloadBytes(about.payload, context.files.facts) * (stream.batch ?? 1);
  if (bytes > MAX_ROCKETMQ_BODY) {
    context.findings.error([...path, 'payload'], `a request of ${bytes} bytes is too large`, {
      hint: `brokers take ${MAX_ROCKETMQ_BODY} bytes unless told otherwise`,
    });
  }
  const { transaction, compress } = stream;
  return {
    batch: stream.batch ?? 1,
    keys: stream.keys ?? null,
    tags: stream.tags ?? null,
    userProperties: normaliseUserProperties(stream.properties?.userProperties ?? {}),
    delayLevel: stream.delayLevel ?? null,
    shardingKey: stream.shardingKey ?? null,
    ordered: stream.ordered ?? false,
    queue: stream.queue ?? null,
    compressFromBytes: compress ?? null,
    transaction: transaction ?? null,
  };
}

/** Without the `%` of a namespace before the name, as official clients write it. */
export function inNamespace(name: string, { target }: GroupPlace): string {
  return target.namespace === null ? name : `${target.namespace}%${name}`;
}

export function normaliseConsume(
  entry: ConsumeFile,
  group: string,
  place: GroupPlace,
): SubscribeEntry {
  const tags = entry.tags === undefined ? [] : [entry.tags].flat();
  checkConsume(entry, tags, place);
  const topic = inNamespace(entry.topic, place);
  const name = inNamespace(entry.group, place);
  const consume: ConsumeSpec = {
    topic,
    group: name,
    tags,
    sql: entry.sql ?? null,
    from: fromOf(entry.from),
    batch: entry.batch,
    ordered: entry.ordering === 'orderly',
    broadcast: entry.broadcast,
    fixed: entry.queues === 'fixed',
    failShare: entry.fail,
    retries: entry.retries,
  };
  const share = entry.broadcast ? `${name}-{{n}}` : name;
  return {
    name: entry.name ?? null,
    subject: entry.name === undefined ? group : `${group}.${entry.name}`,
    topics: [`$share/${share}/${topic}`],
    qos: 1,
    share,
    options: { noLocal: false, retainAsPublished: false, retainHandling: 0, identifier: null },
    consume,
  };
}

function checkConsume(entry: ConsumeFile, tags: readonly string[], place: GroupPlace): void {
  checkName(entry.topic, 'topic', place);
  checkName(entry.group, 'group', place);
  if (tags.some((tag) => tag.trim() === '' || tag.includes('|'))) {
    place.context.findings.error(
      [...place.path, 'tags'],
      'a tag has at least one character, and no |',
    );
  }
  if (entry.sql !== undefined && tags.length > 0) {
    refuse(place, 'sql', 'tags and sql cannot both be given');
  }
  const isOrderly = entry.ordering === 'orderly';
  if (entry.broadcast && (entry.queues === 'fixed' || isOrderly)) {
    refuse(place, 'broadcast', 'who broadcasts reads every queue, and locks none');
  }
  if (entry.queues === 'fixed' && isOrderly) {
    refuse(place, 'ordering', 'queues are locked by members of a group only, not with fixed ones');
  }
}

function fromOf(from: ConsumeFile['from']): ConsumeFrom {
  if (typeof from === 'string') return { at: from };
  if ('offset' in from) return { at: 'offset', offset: from.offset };
  return { at: 'timestamp', timestampMs: from.timestamp };
}

function checkTopic(topic: PublishStream['topic'], place: GroupPlace): void {
  if (typeof topic === 'string') checkName(topic, 'topic', place);
  else {
    refuse(place, 'topic', 'a stream of RocketMQ has one topic: write a stream for each');
  }
}

function checkName(text: string, word: 'topic' | 'group', { path, context }: GroupPlace): void {
  const { findings } = context;
  const template = compileTemplate(text);
  if (!template.isStatic) {
    findings.error([...path, word], `the ${word} is the same for all clients`, {
      hint: 'leave {{n}} and the like out of it',
    });
    return;
  }
  const filled = template.parts.map((part) => (part.kind === 'text' ? part.text : 'x')).join('');
  const most = word === 'topic' ? TOPIC_MAX : GROUP_MAX;
  if (NAME.test(filled) && filled.length <= most) return;
  findings.error([...path, word], `"${filled.slice(0, 80)}" is no name of a ${word}`, {
    hint: `letters, digits, - _ % and |, ${most} at most`,
  });
}

/** Words that do not go together. */
const CLASHES: readonly (readonly [Word, Word])[] = [
  ['batch', 'transaction'],
  ['batch', 'delayLevel'],
  ['batch', 'oneway'],
  ['batch', 'compress'],
  ['batch', 'shardingKey'],
  ['batch', 'ordered'],
  ['transaction', 'oneway'],
  ['transaction', 'delayLevel'],
  ['ordered', 'oneway'],
  ['queue', 'shardingKey'],
];
type Word = (typeof ONLY_ROCKETMQ)[number];

function checkTogether(stream: PublishFile, place: GroupPlace): void {
  const isAsked = (word: Word): boolean => {
    const given = stream[word];
    return given !== undefined && given !== false && !(word === 'batch' && given === 1);
  };
  for (const [one, other] of CLASHES) {
    if (!isAsked(one) || !isAsked(other)) continue;
    place.context.findings.error(place.path, `${one} and ${other} cannot both be given`);
  }
  const { transaction } = stream;
  if (transaction !== undefined && transaction.rollback + transaction.unknown > 1) {
    refuse(place, 'transaction', 'rollback and unknown come to more than 100%');
  }
}

function refuse(
  { path, context }: GroupPlace,
  word: string | readonly string[],
  message: string,
): void {
  context.findings.error([...path, ...[word].flat()], message, { atKey: true });
}
