import type { Packet, SubscribePacket } from '../../codec/packet.ts';
import type { BrokerScene } from './broker-scene.ts';
import { lowerQos } from './message.ts';
import type { Session } from './session.ts';
import { parseShared } from './topic-filter.ts';

interface Subscribing {
  readonly answer: Packet;
  /** Sends the retained messages: behind the SUBACK, as most servers do. */
  readonly retained: () => void;
}

/** Takes the subscriptions of a SUBSCRIBE into a session [MQTT-3.8.4]. */
export function subscribeTo(
  packet: SubscribePacket,
  session: Session,
  { board, grants }: BrokerScene,
): Subscribing {
  const identifier = packet.properties?.subscriptionIdentifiers?.[0] ?? null;
  const offers: (() => void)[] = [];
  const reasonCodes = packet.subscriptions.map((asked) => {
    const qos = lowerQos(asked.qos, grants);
    const isNew = session.subscribe({ ...asked, qos }, identifier);
    const { share, filter } = parseShared(asked.filter);
    const { retainHandling = 0 } = asked;
    // 1: at new subscriptions only; 2: never; shared ones get none [MQTT-3.3.1-9 … 11, 4.8.2].
    if (share === null && (retainHandling === 0 || (retainHandling === 1 && isNew))) {
      offers.push(() => {
        for (const message of board.retained(filter)) session.offerRetained(asked.filter, message);
      });
    }
    return qos;
  });
  return {
    answer: { type: 'suback', packetId: packet.packetId, reasonCodes },
    retained: () => {
      for (const offer of offers) offer();
    },
  };
}
