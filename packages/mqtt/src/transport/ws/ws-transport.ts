// Data path: one send and one received a socket operation.
import { Outbox } from '../outbox.ts';
import {
  type Transport,
  type TransportEvents,
  TransportFault,
  type TransportOptions,
} from '../transport.ts';
import { type ControlFrames, FrameReader, Opcode } from './frame-reader.ts';
import { frameSize, writeFrame } from './frame-writer.ts';
import { makeUpgrade, type Upgrade, upgradeFault, type WsRequest } from './upgrade.ts';
import { closeReason, UPGRADE_REASONS } from './ws-reasons.ts';

/** What a broker may answer to the request for an upgrade. */
const HEAD_BYTES_MAX = 16 * 1024;
const HEAD_END = '\r\n\r\n';

const NORMAL_CLOSURE = 1000;
const PROTOCOL_ERROR = 1002;

const UPGRADING = 0;
const OPEN = 1;
/** Our Close is sent; only the peer's is waited for. */
const CLOSING = 2;

/** The write buffer of all WebSockets; nothing stays in it between two calls. */
const frames = new Outbox();
/** Code of a Close frame. */
const closeCode = Buffer.alloc(2);

/**
 * MQTT over a WebSocket (RFC 6455, [MQTT-6]), on top of a TCP or TLS transport. Each hand-over
 * becomes one binary frame; frames that come in are taken off in the shared read buffer itself.
 */
export class WsTransport implements Transport, TransportEvents, ControlFrames {
  readonly #below: Transport;
  readonly #events: TransportEvents;
  readonly #slot: number;
  readonly #readBuffer: Buffer;
  readonly #reader: FrameReader;
  readonly #subprotocol: string;
  #state = UPGRADING;
  #silent = false;
  /** Until the upgrade is answered. */
  #upgrade: Upgrade | null;
  /** The answer so far. */
  #head = '';

  /** @throws RangeError for a path or header that fits in no request, and whatever `open` throws. */
  constructor(
    options: TransportOptions & { readonly ws: WsRequest },
    events: TransportEvents,
    open: (events: TransportEvents) => Transport,
  ) {
    const { host, port, tls, ws } = options;
    this.#slot = options.slot;
    this.#events = events;
    this.#readBuffer = options.readBuffer;
    this.#reader = new FrameReader(this);
    this.#subprotocol = ws.subprotocol;
    this.#upgrade = makeUpgrade({ host, port, secure: tls !== undefined }, ws);
    this.#below = open(this);
  }

  send(bytes: Buffer): boolean {
    this.#sendFrame(Opcode.binary, bytes);
    // The bytes stand in the frame now.
    return true;
  }

  get unsentBytes(): number {
    return this.#below.unsentBytes;
  }

  finish(): void {
    this.#silent = true;
    if (this.#state === OPEN) this.#close(NORMAL_CLOSURE);
    else this.#below.finish();
  }

  abort(): void {
    this.#silent = true;
    this.#below.abort();
  }

  reset(): void {
    this.#silent = true;
    this.#below.reset();
  }

  // What the transport below tells.

  opened(): void {
    if (this.#silent || this.#upgrade === null) return;
    this.#below.send(this.#upgrade.request);
  }

  received(_slot: number, length: number): void {
    if (this.#state === UPGRADING) this.#answered(length);
    else this.#read(length);
  }

  drained(): void {
    if (!this.#silent && this.#state === OPEN) this.#events.drained(this.#slot);
  }

  closed(_slot: number, error: Error | null): void {
    if (this.#silent) this.#events.gone(this);
    else this.#events.closed(this.#slot, this.#state === UPGRADING ? upgradeError(error) : error);
  }

  gone(): void {
    this.#events.gone(this);
  }

  /** A Ping is answered by a Pong with the same payload (RFC 6455, 5.5.3). */
  pinged(payload: Buffer): void {
    if (this.#state === OPEN) this.#sendFrame(Opcode.pong, payload);
  }

  #answered(length: number): void {
    const before = this.#head.length;
    this.#head += this.#readBuffer.toString('latin1', 0, length);
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) {
      if (this.#head.length > HEAD_BYTES_MAX) this.#fail(UPGRADE_REASONS.tooLong);
      else if (!isHttp(this.#head)) this.#fail(UPGRADE_REASONS.notHttp);
      return;
    }
    const accept = this.#upgrade?.accept ?? '';
    const fault = upgradeFault(this.#head.slice(0, end), {
      accept,
      subprotocol: this.#subprotocol,
    });
    this.#upgrade = null;
    this.#head = '';
    if (fault !== null) {
      this.#fail(fault);
      return;
    }
    this.#state = OPEN;
    // Frames may come with the answer; opening writes, and leaves the read buffer alone.
    const framesAt = end + HEAD_END.length - before;
    this.#readBuffer.copyWithin(0, framesAt, length);
    this.#events.opened(this.#slot);
    if (framesAt < length) this.#read(length - framesAt);
  }

  #read(length: number): void {
    const reader = this.#reader;
    const data = reader.read(this.#readBuffer, length);
    if (data > 0 && !this.#silent) this.#events.received(this.#slot, data);
    if (reader.fault === null && reader.closeCode === null) return;
    if (this.#state === CLOSING) {
      this.#below.finish();
      return;
    }
    // Whoever took the data may have ended the connection.
    if (this.#silent) return;
    if (reader.fault !== null) {
      this.#close(PROTOCOL_ERROR);
      this.#fail(reader.fault);
      return;
    }
    const code = reader.closeCode ?? 0;
    // The peer's own code goes back (RFC 6455, 5.5.1).
    this.#close(code === 0 ? NORMAL_CLOSURE : code);
    const reason = closeReason(code);
    this.#end(reason === null ? null : new TransportFault(reason));
  }

  #close(code: number): void {
    closeCode.writeUInt16BE(code, 0);
    this.#sendFrame(Opcode.close, closeCode);
    this.#state = CLOSING;
  }

  #fail(reason: string): void {
    this.#end(new TransportFault(reason));
  }

  /** The owner aborts what it is told is closed. */
  #end(error: TransportFault | null): void {
    this.#events.closed(this.#slot, error);
  }

  #sendFrame(opcode: number, payload: Buffer): void {
    const at = frames.reserve(this.#below, frameSize(payload.length));
    writeFrame(frames.slab, at, { opcode, payload });
    frames.flush();
  }
}

/** How an answer of HTTP begins, as far as it has come. */
function isHttp(head: string): boolean {
  return head.startsWith('HTTP/') || 'HTTP/'.startsWith(head);
}

/** A connection that ends without an answer to the upgrade. */
function upgradeError(error: Error | null): Error {
  const code = error !== null && 'code' in error ? error.code : null;
  if (error !== null && code !== 'ECONNRESET' && code !== 'EPIPE') return error;
  return new TransportFault(UPGRADE_REASONS.closed, { cause: error });
}
