import type { Socket } from 'node:net';
import { decodePacket } from '../../codec/decode-packet.ts';
import { encodePacket } from '../../codec/encode-packet.ts';
import { PacketFramer } from '../../codec/packet-framer.ts';
import type {
  AckPacket,
  AuthPacket,
  ConnectPacket,
  DisconnectPacket,
  Packet,
  PublishPacket,
  Will,
} from '../../codec/packet.ts';
import type { ProtocolVersion } from '../../codec/protocol-version.ts';
import type { BrokerFault } from '../fault.ts';
import { FaultGate, type GatedConnection } from '../fault-gate.ts';
import { topicOf } from '../gate-packet.ts';
import type { BrokerScene } from './broker-scene.ts';
import { messageOf } from './message.ts';
import type { Session, SessionOutlet } from './session.ts';
import { subscribeTo } from './subscribing.ts';

const MAX_PACKET_BYTES = 1 << 20;
const DEFAULT_RECEIVE_MAXIMUM = 65_535;
/** Reason codes [MQTT-2.4]. */
const WITH_WILL = 0x04;
const NO_SUBSCRIPTION = 0x11;
const CONTINUE = 0x18;
const BAD_METHOD = 0x8c;
const TAKEN_OVER = 0x8e;
const RECEIVE_MAXIMUM = 0x93;

/** One client at the broker. What it sends and gets passes the faults. */
export class BrokerConnection implements GatedConnection, SessionOutlet {
  clientId = '';
  version: ProtocolVersion = '3.1.1';
  window = DEFAULT_RECEIVE_MAXIMUM;
  readonly #socket: Socket;
  readonly #scene: BrokerScene;
  readonly #in: FaultGate;
  readonly #out: FaultGate;
  readonly #framer: PacketFramer;
  readonly #aliases = new Map<number, string>();
  #session: Session | null = null;
  #connecting: ConnectPacket | null = null;
  #will: Will | null = null;
  #losing = false;
  #authSteps = 0;

  /** It lives as long as its socket. */
  static serve(socket: Socket, scene: BrokerScene): BrokerConnection {
    return new BrokerConnection(socket, scene);
  }

  private constructor(socket: Socket, scene: BrokerScene) {
    this.#socket = socket;
    this.#scene = scene;
    const common = { connection: this, book: scene.book, readStamp: scene.readStamp };
    const broker = { befall: (fault: BrokerFault, packet: Packet) => this.#befall(fault, packet) };
    this.#framer = new PacketFramer(
      {
        packet: (_slot, view) => {
          this.#take(decodePacket(view, this.version));
          return true;
        },
        begins: () => true,
        malformed: (_slot, why) => this.broken(why),
      },
      MAX_PACKET_BYTES,
    );
    this.#in = new FaultGate({
      ...common,
      broker,
      direction: 'toBroker',
      pass: (bytes) => this.#framer.feed(0, bytes, bytes.length),
    });
    this.#out = new FaultGate({
      ...common,
      broker,
      direction: 'toClient',
      pass: (bytes) => this.toClient(bytes),
    });
    socket.on('data', (chunk) => this.#in.feed(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#closed());
  }

  send(packet: Packet): void {
    this.#out.feed(encodePacket(packet, this.version));
  }

  sendPast(packet: Packet): void {
    this.toClient(encodePacket(packet, this.version));
  }

  toClient(bytes: Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  cut(): void {
    this.#socket.resetAndDestroy();
  }

  end(): void {
    this.#socket.end();
    this.#in.close();
  }

  broken(why: string): void {
    this.#scene.violation(this.clientId, why);
  }

  /** Another connection of the same client takes its place [MQTT-3.1.4-3]. */
  takenOver(): void {
    this.#leave(TAKEN_OVER);
  }

  #leave(reasonCode: number): void {
    if (this.version === '5') this.send({ type: 'disconnect', reasonCode });
    this.end();
    this.#detach();
  }

  #take(packet: Packet): void {
    if (packet.type === 'connect') this.#connect(packet);
    else if (packet.type === 'auth') this.#authenticate(packet);
    else if (packet.type === 'pingreq') this.send({ type: 'pingresp' });
    else if (packet.type === 'disconnect') this.#disconnected(packet);
    else if (this.#session === null) this.broken(`${packet.type} before CONNECT`);
    else this.#serve(packet, this.#session);
  }

  #serve(packet: Packet, session: Session): void {
    if (packet.type === 'publish') {
      this.#publish(packet, session);
    } else if (isAnswer(packet)) {
      session.answered(packet.type, packet.packetId, packet.reasonCode);
    } else if (packet.type === 'pubrel') {
      session.unreleased.delete(packet.packetId);
      this.send({ type: 'pubcomp', packetId: packet.packetId, reasonCode: 0 });
    } else if (packet.type === 'subscribe') {
      const { answer, retained } = subscribeTo(packet, session, this.#scene);
      this.send(answer);
      retained();
    } else if (packet.type === 'unsubscribe') {
      const reasonCodes = packet.filters.map((filter) =>
        session.subscriptions.delete(filter) ? 0 : NO_SUBSCRIPTION,
      );
      this.send({ type: 'unsuback', packetId: packet.packetId, reasonCodes });
    } else {
      this.broken(`a client does not send ${packet.type}`);
    }
  }

  #disconnected({ reasonCode, properties }: DisconnectPacket): void {
    // 0x04 asks for the will [MQTT-3.14.2-1].
    if (reasonCode !== WITH_WILL) this.#will = null;
    const expiryS = properties?.sessionExpiryInterval;
    if (expiryS !== undefined && this.#session !== null) this.#session.expiryS = expiryS;
    this.end();
  }

  #connect(packet: ConnectPacket): void {
    const { auth } = this.#scene;
    const method = packet.properties?.authenticationMethod;
    this.#connecting = packet;
    if (method === undefined) this.#accept(packet);
    else if (auth === undefined) this.#refuse(BAD_METHOD);
    else this.#authStep(packet.properties?.authenticationData);
  }

  #authenticate({ properties }: AuthPacket): void {
    if (this.#connecting === null) this.broken('AUTH before CONNECT');
    else this.#authStep(properties?.authenticationData);
  }

  #authStep(data: Uint8Array | undefined): void {
    const { auth } = this.#scene;
    const packet = this.#connecting;
    const method = packet?.properties?.authenticationMethod;
    if (packet === null || auth === undefined || method === undefined) return;
    const { reasonCode, data: reply } = auth({ method, data, step: this.#authSteps++ });
    const properties = {
      authenticationMethod: method,
      ...(reply !== undefined && { authenticationData: reply }),
    };
    if (reasonCode === CONTINUE) this.send({ type: 'auth', reasonCode, properties });
    else if (reasonCode >= 0x80) this.#refuse(reasonCode);
    else if (this.#session === null) this.#accept(packet, properties);
    // The client had asked for it on a connection that stands [MQTT-4.12.1].
    else this.send({ type: 'auth', reasonCode: 0, properties });
  }

  #refuse(reasonCode: number): void {
    this.send({ type: 'connack', sessionPresent: false, reasonCode });
    this.end();
  }

  #accept(packet: ConnectPacket, more: object = {}): void {
    const { connack, ignoresReceiveMaximum, join } = this.#scene;
    const assigned = packet.clientId === '' ? this.#scene.newClientId() : null;
    if (assigned !== null) this.clientId = assigned;
    const { session, isNew } = join(this, packet);
    this.#session = session;
    this.#will = packet.will ?? null;
    if (!ignoresReceiveMaximum) {
      this.window = packet.properties?.receiveMaximum ?? DEFAULT_RECEIVE_MAXIMUM;
    }
    this.send({
      type: 'connack',
      sessionPresent: !isNew,
      reasonCode: 0,
      properties: {
        ...connack,
        ...more,
        ...(assigned !== null && { assignedClientIdentifier: assigned }),
      },
    });
    session.attach(this);
  }

  #publish(packet: PublishPacket, session: Session): void {
    const topic = topicOf(packet, this.#aliases);
    const isLost = this.#losing;
    this.#losing = false;
    const { packetId, qos } = packet;
    if (topic === '') this.broken('a topic alias that was never said');
    const known = qos === 2 && session.unreleased.has(packetId);
    if (qos === 2) {
      session.unreleased.add(packetId);
      const most = this.#scene.connack.receiveMaximum ?? DEFAULT_RECEIVE_MAXIMUM;
      if (session.unreleased.size > most) {
        this.broken('more messages in flight than the receive maximum');
        this.#leave(RECEIVE_MAXIMUM);
        return;
      }
    }
    if (!known && !isLost) this.#scene.board.publish(messageOf(packet, topic), this.clientId);
    if (qos === 1) this.send({ type: 'puback', packetId, reasonCode: 0 });
    if (qos === 2) this.send({ type: 'pubrec', packetId, reasonCode: 0 });
  }

  #befall(fault: BrokerFault, packet: Packet): void {
    const { board } = this.#scene;
    if (fault.kind === 'lose') this.#losing = true;
    if (fault.kind === 'forget') board.forget(this.clientId);
    if (packet.type !== 'publish') return;
    const message = { ...messageOf(packet, packet.topic), pastFaults: true };
    if (fault.kind === 'again') this.#session?.deliver(message);
    if (fault.kind !== 'misdeliver') return;
    const other = board.session(fault.to);
    if (other === null) throw new Error(`there is no client ${fault.to} to misdeliver to`);
    // Nobody will ever answer for it here.
    this.#session?.answered('puback', packet.packetId);
    other.deliver(message);
  }

  #closed(): void {
    this.#in.close();
    this.#out.close();
    const will = this.#will;
    this.#will = null;
    this.#detach();
    if (will === null) return;
    const { topic, payload, qos, retain, properties = {} } = will;
    const { willDelayInterval: _delay, ...kept } = properties;
    this.#scene.board.publish({ topic, payload, qos, retain, properties: kept }, this.clientId);
  }

  #detach(): void {
    const session = this.#session;
    this.#session = null;
    if (session !== null) this.#scene.leave(this, session);
  }
}

/** What a client answers to a message that it got. */
function isAnswer(packet: Packet): packet is AckPacket & {
  readonly type: 'puback' | 'pubrec' | 'pubcomp';
} {
  return packet.type === 'puback' || packet.type === 'pubrec' || packet.type === 'pubcomp';
}
