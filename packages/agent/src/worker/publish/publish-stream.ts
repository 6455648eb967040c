import { item } from '../element.ts';
import type { MqttServices } from '../load/group-services.ts';
import { asRequests } from '../requests/request-source.ts';
import { MessageSource } from './message-source.ts';
import type { PublishGroup } from './publish-group.ts';
import { Stream } from './stream.ts';

/** Stream `index` of a group's `publish`, with what makes its messages. */
export function publishStream(
  index: number,
  { services, group }: { readonly services: MqttServices; readonly group: PublishGroup },
): Stream {
  const { order, context, files, firstSubject, runHash, clockDomain, moment } = services;
  const spec = item(services.group.publish, index);
  const stamp = { runHash, clockDomain, subject: firstSubject + index };
  const messages = new MessageSource({ stream: spec, order, context, files, stamp, moment });
  const source = asRequests(messages, spec, { services, stamp });
  const { subject, qos, ackTimeoutUs } = spec;
  return new Stream({ index, subject, qos, ackTimeoutUs, group, source });
}
