import type { Packet, PublishPacket } from '../codec/packet.ts';
import type { Way } from './way.ts';

/** A packet as a fault sees it before it decides. */
export interface SeenPacket {
  readonly way: Way;
  /** Client id of the connection. */
  readonly clientId: string;
  /** 0 where it has none. */
  readonly packetId: number;
  /** Of a PUBLISH, after aliases were resolved; else empty. */
  readonly topic: string;
  /** Of a PUBLISH; else 0. */
  readonly qos: number;
  /** What a PUBLISH's payload says of itself; null where it says nothing. */
  readonly stamp: SeenStamp | null;
}

export interface SeenStamp {
  /** Number of the publish stream in the plan. */
  readonly stream: number;
  readonly stage: number;
  readonly publisher: number;
  readonly seq: number;
}

/** Which packets of a way a fault befalls: of those that `where` lets through, every n-th. */
interface Choice {
  readonly way: Way;
  /** All unless said. */
  readonly where?: (packet: SeenPacket) => boolean;
  /** 1 unless said: each of them. */
  readonly every?: number;
  /** At most so many; without end unless said. */
  readonly most?: number;
}

/** What can be done to a packet by whoever passes it on, between client and broker or in the broker. */
export type PacketFault =
  | { readonly kind: 'drop' }
  /** Sent twice, one behind the other; at QoS ≥ 1 the second with the DUP flag [MQTT-3.3.1-1]. */
  | { readonly kind: 'duplicate' }
  /** Held until the next whole packet of the same origin has passed, and sent behind it. */
  | { readonly kind: 'swap' }
  /**
   * Bits of one byte flipped: of a PUBLISH's payload, of any other packet's body, counted from its end
   * where negative.
   */
  | { readonly kind: 'corrupt'; readonly at: number; readonly bits?: number }
  /** Held for a time, or for ever: until the connection ends. */
  | { readonly kind: 'hold'; readonly ms: number }
  /**
   * The connection is reset, and the packet with it and all that is on its way. With `passing` it ends
   * in order, behind so many bytes of a packet to the client, or before a packet to the broker.
   */
  | { readonly kind: 'cut'; readonly passing?: number }
  /** Passed on a byte at a time; what follows waits. */
  | { readonly kind: 'trickle'; readonly ms?: number }
  /** Passed on with other fields, such as a reason code, a topic or a QoS. */
  | { readonly kind: 'rewrite'; readonly to: PacketFields }
  /** A client's request is not passed on, but answered with this reason code for all that it asks. */
  | { readonly kind: 'refuse'; readonly reasonCode: number }
  /** Passed on unless it is sent `instead`; the client gets this besides, then perhaps the end. */
  | {
      readonly kind: 'send';
      readonly more: More | ((packet: SeenPacket) => More);
      readonly instead?: boolean;
      readonly thenEnd?: boolean;
    }
  /** Not passed on; the client is sent a DISCONNECT (before MQTT 5: nothing), and the connection ends. */
  | { readonly kind: 'disconnect'; readonly reasonCode: number };

/** What only a broker can do, as it knows sessions and subscriptions. */
export type BrokerFault =
  /** A client's message is acknowledged, and goes to nobody. */
  | { readonly kind: 'lose' }
  /** A message to a subscriber is delivered once more, as a message of its own. */
  | { readonly kind: 'again' }
  /** A message to a subscriber goes to another client in its place. */
  | { readonly kind: 'misdeliver'; readonly to: string }
  /** At CONNECT: the client's session is forgotten. */
  | { readonly kind: 'forget' };

/** Any bytes, or packets of the connection's version. */
export type More = Buffer | readonly Packet[];

export type Fault = Choice & (PacketFault | BrokerFault);

/** Fields that a packet may be rewritten with; those that it does not have are ignored. */
export type PacketFields = Partial<
  Pick<PublishPacket, 'topic' | 'qos' | 'dup' | 'retain' | 'packetId' | 'payload' | 'properties'>
> & {
  readonly reasonCode?: number;
  readonly reasonCodes?: readonly number[];
  readonly sessionPresent?: boolean;
};

/** How often a fault came about. */
export interface Injected {
  readonly fault: Fault;
  /** Packets that it befell. A swap counts when it is done. */
  count: number;
  /** Of the held ones: those that a later packet of the same origin overtook. */
  overtaken: number;
}

/** The `nth` packet alone, counted from 1. */
export function only(nth: number): { readonly every: number; readonly most: number } {
  return { every: nth, most: 1 };
}

/** Decides what befalls each packet: the first fault that chooses it, or none. */
export class FaultBook {
  readonly injected: readonly Injected[];
  readonly #seen: number[];
  readonly #chosen: number[];
  readonly #ways: ReadonlySet<Way>;
  readonly #came = new Map<Way, number>();

  constructor(faults: readonly Fault[]) {
    this.injected = faults.map((fault) => ({ fault, count: 0, overtaken: 0 }));
    this.#seen = faults.map(() => 0);
    this.#chosen = faults.map(() => 0);
    this.#ways = new Set(faults.map((fault) => fault.way));
  }

  /** Whether any fault is about this way: others need no look into their packets. */
  concerns(way: Way): boolean {
    return this.#ways.has(way);
  }

  /** A packet came, before any fault. */
  count(way: Way): void {
    this.#came.set(way, this.came(way) + 1);
  }

  /** How many packets of a way came, before any fault. */
  came(way: Way): number {
    return this.#came.get(way) ?? 0;
  }

  /** A packet that one fault chose is not counted by those after it. */
  choose(packet: SeenPacket): Injected | null {
    for (const [k, injected] of this.injected.entries()) {
      const { way, where, every = 1, most = Number.POSITIVE_INFINITY } = injected.fault;
      if (way !== packet.way || where?.(packet) === false) continue;
      const seen = (this.#seen[k] ?? 0) + 1;
      this.#seen[k] = seen;
      const chosen = this.#chosen[k] ?? 0;
      if (seen % every !== 0 || chosen >= most) continue;
      this.#chosen[k] = chosen + 1;
      return injected;
    }
    return null;
  }
}
