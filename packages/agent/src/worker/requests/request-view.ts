import type { InboundPublish } from '@squall/mqtt';

/** What of a request its answer is made of. */
export type RequestView = Pick<
  InboundPublish,
  | 'bytes'
  | 'payloadAt'
  | 'payloadLength'
  | 'responseTopicAt'
  | 'responseTopicLength'
  | 'correlationAt'
  | 'correlationLength'
>;

/** A copy that outlives the read buffer. */
export function copyOf(request: RequestView): RequestView {
  const { payloadLength, responseTopicLength, correlationLength } = request;
  const topicLength = request.responseTopicAt < 0 ? 0 : responseTopicLength;
  const dataLength = request.correlationAt < 0 ? 0 : correlationLength;
  const bytes = Buffer.allocUnsafe(payloadLength + topicLength + dataLength);
  const { bytes: from, payloadAt, responseTopicAt, correlationAt } = request;
  from.copy(bytes, 0, payloadAt, payloadAt + payloadLength);
  if (topicLength > 0) {
    from.copy(bytes, payloadLength, responseTopicAt, responseTopicAt + topicLength);
  }
  const dataAt = payloadLength + topicLength;
  if (dataLength > 0) from.copy(bytes, dataAt, correlationAt, correlationAt + dataLength);
  return {
    bytes,
    payloadAt: 0,
    payloadLength,
    responseTopicAt: responseTopicAt < 0 ? -1 : payloadLength,
    responseTopicLength: topicLength,
    correlationAt: correlationAt < 0 ? -1 : dataAt,
    correlationLength: dataLength,
  };
}
