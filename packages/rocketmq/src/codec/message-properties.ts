import { byteAt, hasTextAt } from './bytes.ts';
import { RocketmqError } from './rocketmq-error.ts';

const NAME_END = 1;
const VALUE_END = 2;

/** Names of properties that brokers and clients give a meaning. */
export const Property = {
  uniqueKey: 'UNIQ_KEY',
  keys: 'KEYS',
  tags: 'TAGS',
  wait: 'WAIT',
  delayLevel: 'DELAY',
  transaction: 'TRAN_MSG',
  producerGroup: 'PGROUP',
  shardingKey: '__SHARDINGKEY',
  retryTopic: 'RETRY_TOPIC',
  originMessageId: 'ORIGIN_MESSAGE_ID',
  timerDelayMs: 'TIMER_DELAY_MS',
  timerDeliverMs: 'TIMER_DELIVER_MS',
} as const;

export type MessageProperties = Readonly<Record<string, string>>;

/**
 * `name \x01 value \x02`, each with its end: 4.8.0 fuses properties of a batch where the last end is
 * missing. Empty names and values are left out, as decoders drop them.
 *
 * @throws RocketmqError ARGUMENT for a text with one of the two separators in it
 */
export function encodeProperties(properties: MessageProperties): string {
  let text = '';
  for (const [name, value] of Object.entries(properties)) {
    if (hasSeparator(name) || hasSeparator(value)) {
      throw new RocketmqError('ARGUMENT', `property ${JSON.stringify(name)} has a separator in it`);
    }
    if (name !== '' && value !== '') text += `${name}\u0001${value}\u0002`;
  }
  return text;
}

function hasSeparator(text: string): boolean {
  return text.includes('\u0001') || text.includes('\u0002');
}

/** Tolerant of what brokers make of it: any order, last end missing, empty values; the last one wins. */
export function decodeProperties(text: string): Record<string, string> {
  const properties: Record<string, string> = Object.create(null);
  for (const pair of text.split('\u0002')) {
    const at = pair.indexOf('\u0001');
    if (at > 0 && at + 1 < pair.length) properties[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return properties;
}

/** Where a property's value stands; one object serves all look-ups. */
export interface PropertyPlace {
  at: number;
  end: number;
}

/** Finds a property in place. False: it is not there. */
export function findProperty(bytes: Buffer, place: PropertyPlace, name: Uint8Array): boolean {
  const { end } = place;
  for (let at = place.at; at < end; ) {
    const nameAt = at;
    while (at < end && byteAt(bytes, at) !== NAME_END) at += 1;
    const nameEnd = at;
    at += 1;
    const valueAt = at;
    while (at < end && byteAt(bytes, at) !== VALUE_END) at += 1;
    if (nameEnd - nameAt === name.length && hasTextAt(bytes, nameAt, name)) {
      place.at = valueAt;
      place.end = at;
      return true;
    }
    at += 1;
  }
  return false;
}
