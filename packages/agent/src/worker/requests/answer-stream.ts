import type { PublishStream, RespondSpec } from '@squall/core/plan';
import { MessageSource } from '../publish/message-source.ts';
import type { PublishGroup } from '../publish/publish-group.ts';
import { Stream } from '../publish/stream.ts';
import type { MqttServices } from '../load/group-services.ts';
import { AnswerSource } from './answer-source.ts';

/** After it an answer without acknowledgement counts as failed, µs. */
const ACK_TIMEOUT_US = 30_000_000;

/** One respond entry of a group: where its answers are made, and what carries them. */
export interface AnswerStream {
  readonly stream: Stream;
  readonly source: AnswerSource;
  readonly spec: RespondSpec;
}

/** @param index of the stream among all of the group: they follow those that it publishes. */
export function answerStream(
  spec: RespondSpec,
  index: number,
  { services, group }: { readonly services: MqttServices; readonly group: PublishGroup },
): AnswerStream {
  const { order, context, files, runHash, clockDomain, moment } = services;
  const inner = new MessageSource({
    stream: messagesOf(spec),
    order,
    context,
    files,
    stamp: { runHash, clockDomain, subject: 0 },
    moment,
  });
  const source = new AnswerSource(inner, spec);
  const { subject, qos } = spec;
  const stream = new Stream({ index, subject, qos, ackTimeoutUs: ACK_TIMEOUT_US, group, source });
  return { stream, source, spec };
}

/** What the plan gives of the answers; the rest goes back as it came. */
function messagesOf(spec: RespondSpec): PublishStream {
  return {
    name: spec.name,
    subject: spec.subject,
    topic: spec.to ?? 'answers',
    qos: spec.qos,
    retain: false,
    payload: spec.payload ?? { kind: 'text', text: '' },
    pace: { kind: 'max' },
    arrivals: 'even',
    phase: 'even',
    inflight: 1,
    ackTimeoutUs: ACK_TIMEOUT_US,
    count: null,
    verify: false,
    expiryS: null,
    topicAlias: null,
    properties: null,
    request: null,
  };
}
