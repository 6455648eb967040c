import { encodePacket } from '../codec/encode-packet.ts';
import { PacketFramer, type PacketSink, type PacketView } from '../codec/packet-framer.ts';
import { type PacketName, PacketType } from '../codec/packet-type.ts';
import type { Packet } from '../codec/packet.ts';
import type { ProtocolVersion } from '../codec/protocol-version.ts';
import type { BrokerFault, FaultBook, Injected, More, PacketFault } from './fault.ts';
import {
  corrupted,
  type GatePacket,
  readPacket,
  type ReadStamp,
  refusalOf,
  repeated,
  rewritten,
  wholePacket,
} from './gate-packet.ts';
import { HeldPackets } from './held-packets.ts';
import { Trickle } from './trickle.ts';
import { type Direction, type Way, wayOf } from './way.ts';

const MAX_PACKET_BYTES = 1 << 20;

/** What both gates of a connection know of it. */
export interface GatedConnection {
  /** Empty before CONNECT. */
  clientId: string;
  version: ProtocolVersion;
  /** Ends it at once, as a network device does that forgets it: nothing more is read or sent. */
  cut(): void;
  /** Ends it behind what was sent. */
  end(): void;
  /** Sends to the client, past all faults. */
  toClient(bytes: Buffer): void;
  /** Whoever passes the packets on cannot do so as it should: the test that uses it must fail. */
  broken(why: string): void;
}

/** What a broker does where a fault is about more than a packet. */
interface BrokerPart {
  befall(fault: BrokerFault, packet: Packet): void;
}

export interface FaultGateOptions {
  readonly direction: Direction;
  readonly connection: GatedConnection;
  readonly book: FaultBook;
  readonly readStamp: ReadStamp;
  /** Passes on what is left of a packet: whole ones, to the client parts of them, too. */
  readonly pass: (bytes: Buffer) => void;
  /** Null where there is no broker behind the gate that could be told what to do. */
  readonly broker: BrokerPart | null;
}

/** One direction of one connection: cut into packets, passed on but for what befalls them. */
export class FaultGate implements PacketSink {
  readonly #options: FaultGateOptions;
  readonly #framer = new PacketFramer(this, MAX_PACKET_BYTES);
  readonly #trickle: Trickle;
  readonly #held: HeldPackets;
  readonly #aliases = new Map<number, string>();
  #over = false;

  constructor(options: FaultGateOptions) {
    this.#options = options;
    this.#trickle = new Trickle((bytes) => {
      if (!this.#over) options.pass(bytes);
    });
    this.#held = new HeldPackets((bytes) => this.#trickle.send(bytes));
  }

  /** Bytes that were received, or are to be sent. */
  feed(bytes: Buffer): void {
    if (!this.#over) this.#framer.feed(0, bytes, bytes.length);
  }

  /** The connection is over. */
  close(): void {
    this.#over = true;
    this.#held.drop();
    this.#trickle.drop();
  }

  packet(_slot: number, view: PacketView): boolean {
    try {
      this.#take(view);
    } catch (error) {
      this.#broken(error instanceof Error ? error.message : String(error));
    }
    return !this.#over;
  }

  begins(): boolean {
    return true;
  }

  malformed(_slot: number, why: string): void {
    this.#broken(why);
  }

  #take(view: PacketView): void {
    const { direction, connection, book } = this.#options;
    const name = nameOf(view.header >> 4);
    const way = name === null ? null : wayOf(direction, name);
    if (way !== null) book.count(way);
    if (way === null || (way !== 'connect' && !book.concerns(way))) {
      this.#trickle.send(Buffer.from(wholePacket(view)));
      return;
    }
    const packet = this.#read(view, way);
    if (packet.packet.type === 'connect') {
      connection.clientId = packet.packet.clientId;
      connection.version = packet.packet.version;
    }
    const injected = book.choose({ ...packet.seen, clientId: connection.clientId });
    if (injected === null) this.#intact(packet);
    else this.#befall(packet, injected);
  }

  #read(view: PacketView, way: Way): GatePacket {
    const { connection, readStamp } = this.#options;
    const { clientId, version } = connection;
    return readPacket(view, { way, clientId, version, aliases: this.#aliases, readStamp });
  }

  #intact({ bytes, seen }: GatePacket): void {
    this.#trickle.send(bytes);
    this.#held.passed(seen);
  }

  #befall(packet: GatePacket, injected: Injected): void {
    const { fault } = injected;
    if (fault.kind === 'hold' || fault.kind === 'swap') {
      this.#held.hold(packet, injected);
      return;
    }
    injected.count += 1;
    if (isOfBroker(fault)) this.#befallBroker(packet, fault);
    else this.#change(packet, fault);
  }

  #befallBroker(packet: GatePacket, fault: BrokerFault): void {
    const { broker } = this.#options;
    if (broker === null) throw new Error(`only a broker can do this: ${fault.kind}`);
    broker.befall(fault, packet.packet);
    if (fault.kind !== 'misdeliver') this.#intact(packet);
  }

  #change(packet: GatePacket, fault: Exclude<PacketFault, { kind: 'hold' | 'swap' }>): void {
    const { connection } = this.#options;
    switch (fault.kind) {
      case 'drop':
        break;
      case 'duplicate':
        this.#trickle.send(packet.bytes);
        this.#trickle.send(repeated(packet));
        this.#held.passed(packet.seen);
        break;
      case 'corrupt':
        this.#trickle.send(corrupted(packet, fault.at, fault.bits));
        break;
      case 'trickle':
        this.#trickle.sendSlowly(packet.bytes, fault.ms ?? 1);
        break;
      case 'rewrite':
        this.#trickle.send(rewritten(packet, fault.to, connection.version));
        break;
      case 'send':
        if (fault.instead !== true) this.#intact(packet);
        this.#sendMore(typeof fault.more === 'function' ? fault.more(packet.seen) : fault.more);
        if (fault.thenEnd === true) connection.end();
        break;
      case 'cut':
        this.#cut(packet, fault.passing);
        break;
      case 'refuse':
        this.#refuse(packet, fault.reasonCode);
        break;
      case 'disconnect':
        this.#disconnect(fault.reasonCode);
        break;
    }
  }

  #sendMore(more: More): void {
    const { connection } = this.#options;
    if (Buffer.isBuffer(more)) connection.toClient(more);
    else for (const packet of more) connection.toClient(encodePacket(packet, connection.version));
  }

  #cut({ bytes }: GatePacket, passing: number | undefined): void {
    const { connection, direction } = this.#options;
    if (passing === undefined) {
      connection.cut();
      return;
    }
    if (direction === 'toClient') this.#trickle.send(bytes.subarray(0, passing));
    connection.end();
  }

  #refuse({ packet }: GatePacket, reasonCode: number): void {
    const { connection } = this.#options;
    const answer = refusalOf(packet, reasonCode);
    if (answer !== null) connection.toClient(encodePacket(answer, connection.version));
    if (packet.type === 'connect') connection.end();
  }

  #disconnect(reasonCode: number): void {
    const { connection } = this.#options;
    const { version } = connection;
    if (version === '5') {
      connection.toClient(encodePacket({ type: 'disconnect', reasonCode }, version));
    }
    connection.end();
  }

  #broken(why: string): void {
    this.#options.connection.broken(why);
    this.#options.connection.cut();
  }
}

function nameOf(type: number): PacketName | null {
  for (const name in PacketType) {
    if (isPacketName(name) && PacketType[name] === type) return name;
  }
  return null;
}

function isPacketName(name: string): name is PacketName {
  return Object.hasOwn(PacketType, name);
}

function isOfBroker(fault: PacketFault | BrokerFault): fault is BrokerFault {
  return ['lose', 'again', 'misdeliver', 'forget'].includes(fault.kind);
}
