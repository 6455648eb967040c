import type { Packet, PublishPacket, Qos, Subscription } from '../../codec/packet.ts';
import { lowerQos, type Message, type Outgoing } from './message.ts';
import { filterMatches, parseShared } from './topic-filter.ts';

/** Messages that may wait for one client. */
const MAX_QUEUED = 1_000_000;
const MAX_PACKET_ID = 65_535;

/** What a session sends through while its client is there. */
export interface SessionOutlet {
  /** Messages of QoS 1 and 2 that the client takes at a time. */
  readonly window: number;
  send(packet: Packet): void;
  /** Not through the faults. */
  sendPast(packet: Packet): void;
}

interface Subscribed extends Subscription {
  readonly share: string | null;
  /** Without `$share/<name>/`. */
  readonly topics: string;
  readonly identifier: number | null;
}

interface Sent {
  readonly packet: PublishPacket;
  /** The client has said PUBREC. */
  received: boolean;
}

/** A client's subscriptions, and its messages that are not through [MQTT-3.1.2-4, 4.1]. */
export class Session {
  readonly clientId: string;
  readonly subscriptions = new Map<string, Subscribed>();
  /** Packet ids of the client's messages at QoS 2 that are not released yet. */
  readonly unreleased = new Set<number>();
  /** s that it outlives its connection; 0: not at all, Infinity: for ever. */
  expiryS = 0;
  #outlet: SessionOutlet | null = null;
  readonly #queue: Outgoing[] = [];
  readonly #sent = new Map<number, Sent>();
  #lastId = 0;

  constructor(clientId: string) {
    this.clientId = clientId;
  }

  get connected(): boolean {
    return this.#outlet !== null;
  }

  /** Whether its end has anything to remember. */
  get kept(): boolean {
    return this.expiryS > 0;
  }

  /** The client is there: what is under way is sent again, in its order [MQTT-4.4.0-1]. */
  attach(outlet: SessionOutlet): void {
    this.#outlet = outlet;
    for (const [packetId, { packet, received }] of this.#sent) {
      if (received) outlet.send({ type: 'pubrel', packetId, reasonCode: 0 });
      else outlet.send({ ...packet, dup: true });
    }
    this.#pump();
  }

  detach(outlet: SessionOutlet): void {
    if (this.#outlet === outlet) this.#outlet = null;
  }

  /** False where the client held the subscription already. */
  subscribe(subscription: Subscription, identifier: number | null): boolean {
    const { share, filter } = parseShared(subscription.filter);
    const isNew = !this.subscriptions.has(subscription.filter);
    this.subscriptions.set(subscription.filter, {
      ...subscription,
      share,
      topics: filter,
      identifier,
    });
    return isNew;
  }

  /** A message for the client's own subscriptions: one copy, whatever overlaps [MQTT-3.3.5-1]. */
  offer(message: Message, from: string | null): void {
    const matching = [...this.subscriptions.values()].filter(
      ({ share, topics, noLocal }) =>
        share === null &&
        filterMatches(topics, message.topic) &&
        !(noLocal === true && from === this.clientId),
    );
    if (matching.length > 0) this.#deliverTo(matching, message);
  }

  /** A message for one of its shared subscriptions. */
  offerShared(filter: string, message: Message): void {
    const subscription = this.subscriptions.get(filter);
    if (subscription !== undefined) this.#deliverTo([subscription], message);
  }

  /** A retained message at a new subscription: the flag stays [MQTT-3.3.1-8]. */
  offerRetained(filter: string, message: Message): void {
    const subscription = this.subscriptions.get(filter);
    if (subscription === undefined) return;
    this.deliver({ ...addressed([subscription], message), retain: true, pastFaults: false });
  }

  deliver(message: Outgoing): void {
    if (message.qos === 0) {
      this.#send(message, 0);
      return;
    }
    if (this.#queue.length >= MAX_QUEUED) throw new Error(`more than ${MAX_QUEUED} messages wait`);
    this.#queue.push(message);
    this.#pump();
  }

  /** PUBACK, PUBREC or PUBCOMP of the client; what fits nothing is ignored. */
  answered(type: 'puback' | 'pubrec' | 'pubcomp', packetId: number, reasonCode = 0): void {
    const sent = this.#sent.get(packetId);
    if (type === 'pubrec' && reasonCode < 0x80) {
      if (sent !== undefined) sent.received = true;
      this.#outlet?.send({ type: 'pubrel', packetId, reasonCode: 0 });
      return;
    }
    this.#sent.delete(packetId);
    this.#pump();
  }

  #deliverTo(matching: readonly Subscribed[], message: Message): void {
    const retain =
      message.retain && matching.some(({ retainAsPublished }) => retainAsPublished === true);
    this.deliver({ ...addressed(matching, message), retain, pastFaults: false });
  }

  #pump(): void {
    while (this.#sent.size < (this.#outlet?.window ?? 0)) {
      const message = this.#queue.shift();
      if (message === undefined) return;
      this.#send(message, this.#nextId());
    }
  }

  #send({ pastFaults, topic, payload, qos, retain, properties }: Outgoing, packetId: number): void {
    const packet: PublishPacket = {
      type: 'publish',
      topic,
      payload,
      qos,
      retain,
      properties,
      dup: false,
      packetId,
    };
    if (qos > 0) this.#sent.set(packetId, { packet, received: false });
    if (pastFaults) this.#outlet?.sendPast(packet);
    else this.#outlet?.send(packet);
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % MAX_PACKET_ID) + 1;
    while (this.#sent.has(this.#lastId));
    return this.#lastId;
  }
}

function addressed(matching: readonly Subscribed[], message: Message): Message {
  const highest = matching.reduce<Qos>((qos, each) => (each.qos > qos ? each.qos : qos), 0);
  const identifiers = matching.flatMap(({ identifier }) => identifier ?? []);
  return {
    ...message,
    qos: lowerQos(message.qos, highest),
    properties: {
      ...message.properties,
      ...(identifiers.length > 0 && { subscriptionIdentifiers: identifiers }),
    },
  };
}
