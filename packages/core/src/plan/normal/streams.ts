import { STAMP_BYTES } from '../../stamp/index.ts';
import { encodeUtf8 } from '../../text/utf8.ts';
import { MAX_REMAINING_LENGTH } from '../limits.ts';
import type { Pace, Payload, PublishStream } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PublishFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';

/** In-flight window of a client where the plan does not say. */
const PACED_INFLIGHT = 32;
const CLOSED_INFLIGHT = 1;
/** Length and packet id fields beside topic and payload. */
const PUBLISH_OVERHEAD = 4;

export function normaliseStream(
  stream: PublishFile,
  place: { readonly group: string; readonly path: PlanPath; readonly context: NormalContext },
): PublishStream {
  const { group, path, context } = place;
  const name = stream.name ?? null;
  const payload = normalisePayload(stream.payload, [...path, 'payload'], context);
  const pace = normalisePace(stream, path, context) ?? { kind: 'max' };
  // The schema has refused a list of topics already.
  const topic = typeof stream.topic === 'string' ? stream.topic : '';
  checkSize(payload, topic, { path, context });
  return {
    name,
    subject: name === null ? group : `${group}.${name}`,
    topic,
    qos: stream.qos === '1' ? 1 : 0,
    retain: stream.retain,
    payload,
    pace,
    arrivals: 'even',
    phase: 'even',
    inflight: stream.inflight ?? defaultInflight(pace),
    ackTimeoutUs: stream.ackTimeout,
    count:
      stream.count === undefined ? null : context.scaler.count([...path, 'count'], stream.count),
    verify: normaliseVerify(stream, payload, { path, context }),
    expiryS: null,
    topicAlias: null,
    properties: null,
    request: null,
  };
}

export function defaultInflight(pace: Pace): number {
  return pace.kind === 'max' ? CLOSED_INFLIGHT : PACED_INFLIGHT;
}

/** `every` or `rate` as a pace; null, and an error, where not exactly one of them is given. */
export function normalisePace(
  {
    every,
    rate,
  }: { readonly every?: number | undefined; readonly rate?: number | 'max' | undefined },
  path: PlanPath,
  { findings, scaler }: NormalContext,
): Pace | null {
  if (every !== undefined && rate !== undefined) {
    findings.error([...path, 'rate'], 'every and rate cannot both be given', { atKey: true });
    return null;
  }
  if (every !== undefined) return { kind: 'every', everyUs: every };
  if (rate === 'max') return { kind: 'max' };
  if (rate !== undefined) return { kind: 'rate', perS: scaler.rate([...path, 'rate'], rate) };
  findings.error(path, 'how often to publish is missing', {
    hint: 'write every: 1s (a client), rate: 500/s (the whole group) or rate: max',
  });
  return null;
}

function normalisePayload(
  payload: PublishFile['payload'],
  path: PlanPath,
  { findings }: NormalContext,
): Payload {
  if (typeof payload === 'number') return { kind: 'size', bytes: payload, fill: 'repeat' };
  const given = (['size', 'text', 'hex'] as const).filter((key) => payload[key] !== undefined);
  if (given.length !== 1) {
    findings.error(path, 'a payload has exactly one of size, text and hex');
    return { kind: 'text', text: '' };
  }
  const { size = 0, text, hex } = payload;
  if (text !== undefined) {
    if (text.includes('{{')) {
      findings.unsupported([...path, 'text'], 'template payloads are', 'a text is sent as it is');
    }
    return { kind: 'text', text };
  }
  if (hex === undefined) return { kind: 'size', bytes: size, fill: 'repeat' };
  const digits = hex.replaceAll(/\s/g, '').toLowerCase();
  if (!/^([0-9a-f]{2})*$/.test(digits)) {
    findings.error([...path, 'hex'], 'these are not pairs of hexadecimal digits', {
      hint: 'write for example 00ff7e',
    });
  }
  return { kind: 'hex', hex: digits };
}

/** On for made-up payloads; other payloads would be overwritten by the stamp. */
function normaliseVerify(
  { verify }: PublishFile,
  payload: Payload,
  { path, context }: { readonly path: PlanPath; readonly context: NormalContext },
): boolean {
  const asked = verify === undefined ? null : verify === 'on' || verify === 'true';
  if (payload.kind !== 'size') {
    if (asked === true) {
      context.findings.unsupported(
        [...path, 'verify'],
        `verify: on with a ${payload.kind} payload is`,
        'give the payload as a size, or leave verify out',
      );
    }
    return false;
  }
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

/** [MQTT-2.2.3] */
function checkSize(
  payload: Payload,
  topic: string,
  { path, context }: { readonly path: PlanPath; readonly context: NormalContext },
): void {
  const bytes = payloadBytes(payload) + encodeUtf8(topic).length + PUBLISH_OVERHEAD;
  if (bytes <= MAX_REMAINING_LENGTH) return;
  context.findings.error(
    [...path, 'payload'],
    `a message of ${bytes} bytes does not fit into a packet of MQTT`,
    { hint: `a packet has at most ${MAX_REMAINING_LENGTH} bytes [MQTT-2.2.3]` },
  );
}

/** Bytes of each message's payload. */
export function payloadBytes(payload: Payload): number {
  switch (payload.kind) {
    case 'size':
      return payload.bytes;
    case 'text':
      return encodeUtf8(payload.text).length;
    case 'template':
    case 'json':
      return encodeUtf8(payload.template).length;
    case 'file':
    case 'files':
      return 0;
    case 'hex':
      return payload.hex.length / 2;
  }
}
