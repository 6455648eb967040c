import type { Payload, RespondSpec, SubscribeEntry, SubscribeOptions } from '../plan.ts';
import type { RespondFile, SubscribeFile } from '../schema/plan-file.ts';
import { type GroupPlace, inside, needs5 } from './context.ts';
import { normalisePayload, refuseStamp } from './payloads.ts';
import { qosOf } from './qos.ts';

/** @param group its name. @param index of the entry in the group, from 0. */
export function normaliseSubscription(
  entry: SubscribeFile,
  { group, index }: { readonly group: string; readonly index: number },
  place: GroupPlace,
): SubscribeEntry {
  needs5(place, 'options', entry.options);
  const topics = typeof entry.topic === 'string' ? [entry.topic] : entry.topic;
  const { share } = entry;
  if (share !== undefined) {
    if (topics.some((topic) => topic.startsWith('$share/'))) {
      place.context.findings.error(
        [...place.path, 'share'],
        'the filter is that of a shared subscription already',
        {
          hint: 'write the filter without $share/… before it, or leave share out',
        },
      );
    }
    if (entry.options?.noLocal === true) {
      place.context.findings.error(
        [...place.path, 'options', 'noLocal'],
        'a shared subscription cannot be noLocal [MQTT-3.8.3-4]',
      );
    }
  }
  return {
    ...named(entry.name, group),
    topics: share === undefined ? topics : topics.map((topic) => `$share/${share}/${topic}`),
    qos: qosOf(entry.qos),
    share: share ?? null,
    options: optionsOf(entry, index),
  };
}

function optionsOf({ options }: SubscribeFile, index: number): SubscribeOptions {
  const { identifier, retainHandling } = options ?? {};
  return {
    noLocal: options?.noLocal ?? false,
    retainAsPublished: options?.retainAsPublished ?? false,
    retainHandling: retainHandling === undefined ? 0 : qosOf(retainHandling),
    identifier:
      identifier === true ? index + 1 : identifier === false ? null : (identifier ?? null),
  };
}

/** An identifier names one entry: by it a message is told to be for that one. */
export function checkIdentifiers(entries: readonly SubscribeEntry[], place: GroupPlace): void {
  const seen = new Set<number>();
  for (const { options } of entries) {
    const { identifier } = options;
    if (identifier === null) continue;
    if (seen.has(identifier)) {
      place.context.findings.error(
        [...place.path, 'subscribe'],
        `the subscription identifier ${identifier} stands twice`,
        { hint: 'write identifier: true to have the entries numbered' },
      );
    }
    seen.add(identifier);
  }
}

/** @param group its name. */
export function normaliseResponder(
  entry: RespondFile,
  group: string,
  place: GroupPlace,
): RespondSpec {
  const { path, context, target } = place;
  if (entry.to === undefined && target.version !== null && target.version !== '5') {
    context.findings.error([...path, 'to'], 'where the answers go is missing', {
      hint: `MQTT ${target.version} has no response topics: write to: with a topic, or version: 5 into the target`,
    });
  }
  if (entry.payload !== undefined && target.version !== null && target.version !== '5') {
    context.findings.error([...path, 'payload'], 'the payload of the request must go back', {
      hint: `MQTT ${target.version} has no correlation data, so only by it the answer is told to be one: leave payload out`,
      atKey: true,
    });
  }
  return {
    ...named(entry.name, group),
    topics: typeof entry.topic === 'string' ? [entry.topic] : entry.topic,
    qos: qosOf(entry.qos),
    to: entry.to ?? null,
    payload: answerOf(entry.payload, inside(place, 'payload')),
    delayUs: entry.delay,
  };
}

function answerOf(payload: RespondFile['payload'], place: GroupPlace): Payload | null {
  if (payload === undefined) return null;
  const answer = normalisePayload(payload, place);
  refuseStamp(answer, 'an answer is', place);
  return answer;
}

function named(name: string | undefined, group: string) {
  return {
    name: name ?? null,
    subject: name === undefined ? group : `${group}.${name}`,
  };
}
