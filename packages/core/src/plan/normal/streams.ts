import { streamTopics } from '../../schedule/index.ts';
import { STAMP_BYTES } from '../../stamp/index.ts';
import { encodeUtf8 } from '../../text/utf8.ts';
import { MAX_REMAINING_LENGTH } from '../limits.ts';
import type { Pace, Payload, PublishStream, RequestSpec } from '../plan.ts';
import type { PublishFile } from '../schema/plan-file.ts';
import type { RequestFile } from '../schema/publish.ts';
import { type GroupPlace, inside, needs5 } from './context.ts';
import { checkSpacing, normalisePace } from './paces.ts';
import { normalisePayload, payloadBytes, stampsIn } from './payloads.ts';
import { normaliseProperties, secondsOf } from './properties.ts';
import { qosOf } from './qos.ts';
import { checkStreamWords, inNamespace, normaliseRocketmqPublish } from './rocketmq.ts';
import { normaliseTopic } from './topics.ts';

/** In-flight window of a client where the plan does not say. */
const PACED_INFLIGHT = 32;
const CLOSED_INFLIGHT = 1;
/** Length and packet id fields beside topic and payload. */
const PUBLISH_OVERHEAD = 4;
/** Aliases that there can be [MQTT-3.3.2-8]. */
const MAX_ALIASES = 65_535;

/** @param group its name. */
export function normaliseStream(
  stream: PublishFile,
  group: string,
  place: GroupPlace,
): PublishStream {
  const { path, context } = place;
  const name = stream.name ?? null;
  const payload = normalisePayload(stream.payload, {
    path: [...path, 'payload'],
    context,
  });
  const pace = normalisePace(stream, { path, context, stageUs: null }) ?? {
    kind: 'max',
  };
  checkSpacing(stream, pace, { path, context });
  const topic = normaliseTopic(stream.topic, {
    path: [...path, 'topic'],
    context,
  });
  if (place.target.protocol !== 'rocketmq') checkSize(payload, streamTopics({ topic }), place);
  checkStreamWords(stream, place);
  const rocketmq = normaliseRocketmqPublish(stream, { pace, payload, topic }, place);
  needs5(place, 'properties', stream.properties);
  needs5(place, 'topicAlias', stream.topicAlias === false ? undefined : stream.topicAlias);
  needs5(place, 'expiry', stream.expiry);
  return {
    name,
    subject: name === null ? group : `${group}.${name}`,
    topic: typeof topic === 'string' ? inNamespace(topic, place) : topic,
    qos: rocketmq === undefined ? qosOf(stream.qos) : stream.oneway === true ? 0 : 1,
    retain: stream.retain,
    payload,
    pace,
    arrivals: stream.arrivals,
    phase: stream.phase,
    inflight: stream.inflight ?? defaultInflight(pace),
    ackTimeoutUs: stream.ackTimeout,
    count:
      stream.count === undefined ? null : context.scaler.count([...path, 'count'], stream.count),
    verify: normaliseVerify(stream, payload, place),
    expiryS: secondsOf(stream.expiry, [...path, 'expiry'], context),
    topicAlias: aliasesOf(stream.topicAlias),
    properties: rocketmq === undefined ? normaliseProperties(stream.properties) : null,
    request: normaliseRequest(stream.request, inside(place, 'request'), { stream, payload }),
    ...(rocketmq !== undefined && { rocketmq }),
  };
}

export function defaultInflight(pace: Pace): number {
  return pace.kind === 'max' ? CLOSED_INFLIGHT : PACED_INFLIGHT;
}

function aliasesOf(aliases: number | boolean | undefined): number | null {
  if (aliases === undefined || aliases === false) return null;
  return aliases === true ? MAX_ALIASES : aliases;
}

function normaliseRequest(
  request: RequestFile | undefined,
  { path, context, target }: GroupPlace,
  { stream, payload }: { readonly stream: PublishFile; readonly payload: Payload },
): RequestSpec | null {
  if (request === undefined) return null;
  const { properties, verify } = stream;
  const isStamped =
    payload.kind === 'size' ? verify !== 'off' && verify !== 'false' : stampsIn(payload) > 0;
  if (target.version !== null && target.version !== '5' && !isStamped) {
    context.findings.error(path, 'an answer could not be told by this payload: it has no stamp', {
      hint: `MQTT ${target.version} has no correlation data, so the stamp of the request must come back: give the payload as a size, or with {{stamp}} in it`,
    });
  }
  for (const word of ['responseTopic', 'correlationData'] as const) {
    if (properties?.[word] === undefined) continue;
    context.findings.error(
      [...path.slice(0, -1), 'properties', word],
      `a request sets its ${word} itself`,
      { atKey: true },
    );
  }
  return {
    responseTopic: request.responseTopic,
    qos: qosOf(request.qos),
    timeoutUs: request.timeout,
  };
}

/** On for made-up payloads and where a template has a place for the stamp. */
function normaliseVerify({ verify }: PublishFile, payload: Payload, place: GroupPlace): boolean {
  const { path, context } = place;
  const asked = verify === undefined ? null : verify === 'on' || verify === 'true';
  if (payload.kind === 'size') {
    if (asked === false) return false;
    if (payload.bytes < STAMP_BYTES) {
      context.findings.error(
        [...path, 'payload'],
        `${payload.bytes} bytes are too few for the stamp, which has ${STAMP_BYTES}`,
        { hint: `write payload: ${STAMP_BYTES}B or more, or verify: off` },
      );
    }
    return true;
  }
  const stamps = stampsIn(payload);
  const stamped = stamps > 0;
  if (stamps > 1) {
    context.findings.error([...path, 'payload', payload.kind], '{{stamp}} stands twice', {
      hint: 'a message carries one',
    });
  }
  if (asked === true && !stamped) {
    const templates = payload.kind === 'template' || payload.kind === 'json';
    context.findings.error(
      [...path, 'verify'],
      `verify: on has no place for its stamp in this ${payload.kind} payload`,
      {
        hint: templates
          ? 'write {{stamp}} where it is to stand: it has 54 characters'
          : 'give the payload as a size, or as a template with {{stamp}} in it, or leave verify out',
      },
    );
  }
  if (asked === false && stamped) {
    context.findings.error([...path, 'verify'], 'verify: off, but {{stamp}} is in the payload', {
      hint: 'leave one of them out',
    });
  }
  return stamped;
}

/** [MQTT-2.2.3] */
function checkSize(
  payload: Payload,
  topics: readonly string[],
  { path, context }: GroupPlace,
): void {
  const own = payloadBytes(payload, context.files.facts);
  const topic = Math.max(0, ...topics.map((each) => encodeUtf8(each).length));
  const bytes = own + topic + PUBLISH_OVERHEAD;
  // What a template may come to at most is known too loosely to refuse it.
  const exact = payload.kind !== 'template' && payload.kind !== 'json';
  if (bytes <= MAX_REMAINING_LENGTH || !exact) return;
  context.findings.error(
    [...path, 'payload'],
    `a message of ${bytes} bytes does not fit into a packet of MQTT`,
    { hint: `a packet has at most ${MAX_REMAINING_LENGTH} bytes [MQTT-2.2.3]` },
  );
}
