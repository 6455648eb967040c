import { encodePacket } from '../codec/encode-packet.ts';
import type { Properties } from '../codec/properties/properties.ts';
import type { ProtocolVersion } from '../codec/protocol-version.ts';
import type { ConnectOptions } from './connect-options.ts';
import type { SubscribeRequest, UnsubscribeRequest } from './subscribe-request.ts';

/** The CONNECT of a client. Throws a RangeError for options that fit in none. */
export function encodeGreeting(
  options: ConnectOptions,
  version: ProtocolVersion,
  authentication: Properties,
): Buffer {
  const { clientId, cleanStart, keepAliveS, username, password, will, properties } = options;
  const isSent = password !== undefined && options.auth === undefined;
  return encodePacket(
    {
      type: 'connect',
      version,
      clientId,
      cleanStart,
      keepAliveS,
      username,
      will,
      ...(isSent && { password: Buffer.from(password) }),
      properties: { ...properties, ...authentication },
    },
    version,
  );
}

/** A SUBSCRIBE. Throws a RangeError for a request that fits in none, or that needs MQTT 5. */
export function encodeSubscribe(request: SubscribeRequest, version: ProtocolVersion): Buffer {
  const { packetId, filters, qos, noLocal, retainAsPublished, retainHandling } = request;
  const { identifier, userProperties } = request;
  const options = { qos, noLocal, retainAsPublished, retainHandling };
  if (version !== '5' && identifier !== undefined) {
    throw new RangeError('subscription identifiers need MQTT 5');
  }
  return encodePacket(
    {
      type: 'subscribe',
      packetId,
      subscriptions: filters.map((filter) => ({ filter, ...options })),
      properties: {
        userProperties,
        ...(identifier !== undefined && { subscriptionIdentifiers: [identifier] }),
      },
    },
    version,
  );
}

export function encodeUnsubscribe(request: UnsubscribeRequest, version: ProtocolVersion): Buffer {
  return encodePacket({ type: 'unsubscribe', ...request }, version);
}
