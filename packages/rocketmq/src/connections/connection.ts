// Data path: one send a request, one frame an answer.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { EMPTY_BODY, type RemotingCommand } from '../codec/command.ts';
import { decodeFrame, encodeFrame } from '../codec/frame.ts';
import { FrameFramer, type FrameSink, type FrameView } from '../codec/frame-framer.ts';
import { HeaderScan } from '../codec/header-scan.ts';
import { CommandFlag } from '../codec/request-code.ts';
import type { RequestTemplate } from '../codec/request-template.ts';
import { ResponseCode } from '../codec/response-code.ts';
import { parseAddress } from './broker-address.ts';
import { Outbox } from './outbox.ts';
import { CONNECT_TIMED_OUT, malformedFrame, NOT_READING, socketReason } from './socket-reasons.ts';
import type { TlsSettings } from './tls-settings.ts';
import { type Answer, type AnswerHandler, WaitingRequests } from './waiting-requests.ts';

/** Puts the present time into the cell: µs of a monotonic clock. */
export type ReadClock = (cell: Float64Array) => void;

export interface ConnectionOptions {
  /** `host:port` */
  readonly address: string;
  readonly tls: TlsSettings | null;
  readonly readClock: ReadClock;
  /** Requests that may wait for their answer at a time; a power of two. */
  readonly requestsMax: number;
}

/** Who hears of a connection; one object for all connections of an owner. */
export interface ConnectionEvents {
  opened(connection: Connection): void;
  /** It is over, or never came to be; `reason` comes from a fixed set. Called once. */
  closed(connection: Connection, reason: string): void;
  /**
   * The broker asks for something. An answer is awaited unless flag bit 1 is set; false says that
   * this request is not understood.
   */
  requested(connection: Connection, command: RemotingCommand): boolean;
}

/** A request of the load; the sender keeps one such object and fills it anew each time. */
export interface Outgoing {
  template: RequestTemplate;
  body: Buffer;
  bodyAt: number;
  bodyEnd: number;
  /** Null: one-way, no answer comes. */
  handler: AnswerHandler | null;
  token: number;
  timeoutUs: number;
}

/**
 * All connections read into this one buffer, since reads are handled one after the other. An answer of
 * 256 KiB, which is what a full pull is, comes in one read.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(512 * 1024);
/** A broker that reads nothing must not fill our memory. */
const UNSENT_BYTES_MAX = 128 * 1024 * 1024;

/**
 * One socket to a broker or name server: many requests under way at a time, told apart by opaque.
 * All frames of a turn of the event loop are one write; answers are read where they lie.
 */
export class Connection implements FrameSink {
  readonly address: string;
  readonly #events: ConnectionEvents;
  readonly #readClock: ReadClock;
  readonly #socket: Socket;
  readonly #outbox: Outbox;
  readonly #waiting: WaitingRequests;
  readonly #framer: FrameFramer;
  readonly #head = new HeaderScan();
  readonly #answer: { head: HeaderScan; frame: FrameView };
  readonly #now = new Float64Array(1);
  readonly #flush: () => void;
  #flushDue = false;
  #reading = false;
  #open = false;
  #closed = false;
  #bytesReceived = 0;
  #unknownAnswers = 0;
  #timedOut = 0;

  constructor(options: ConnectionOptions, events: ConnectionEvents) {
    this.address = options.address;
    this.#events = events;
    this.#readClock = options.readClock;
    this.#waiting = new WaitingRequests(options.requestsMax);
    this.#framer = new FrameFramer(this);
    const frame = { bytes: READ_BUFFER, serialization: 0, headerAt: 0, bodyAt: 0, end: 0 };
    this.#answer = { head: this.#head, frame };
    this.#flush = () => {
      this.#flushDue = false;
      this.#outbox.flush();
    };
    this.#socket = this.#connect(options);
    this.#outbox = new Outbox(this.#socket);
  }

  /** Connected, and not lost since. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether one more request may wait for its answer. */
  get hasRoom(): boolean {
    return this.#open && !this.#waiting.isFull;
  }

  /** Requests whose answer has not come. */
  get waiting(): number {
    return this.#waiting.count;
  }

  /** Bytes of frames that the kernel has not taken yet. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  get bytesSent(): number {
    return this.#outbox.handedOver;
  }

  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  /** Answers that nobody waited for (any more). */
  get unknownAnswers(): number {
    return this.#unknownAnswers;
  }

  /** Requests that got no answer in time. */
  get timedOut(): number {
    return this.#timedOut;
  }

  /** The moment of the last read or send, µs; for handlers, which would read it again. */
  get momentUs(): number {
    return this.#now[0] ?? 0;
  }

  /**
   * Writes a request; it leaves with the others of this turn. False: there is no connection, or no
   * room for one more (`hasRoom`).
   */
  post(outgoing: Outgoing): boolean {
    if (!this.#open || this.#waiting.isFull) return false;
    const { template, body, bodyAt, bodyEnd, handler } = outgoing;
    this.#readClock(this.#now);
    const deadlineUs = this.momentUs + outgoing.timeoutUs;
    // A one-way request needs an opaque, too, but nobody waits for it.
    const opaque = handler === null ? 0 : this.#waiting.add(handler, outgoing.token, deadlineUs);
    const at = this.#outbox.reserve(template.headerBytesMax + bodyEnd - bodyAt);
    const slab = this.#outbox.slab;
    const to = template.writeHeader(slab, at, opaque);
    body.copy(slab, to, bodyAt, bodyEnd);
    const end = to + bodyEnd - bodyAt;
    template.finish(slab, at, end);
    this.#outbox.commit(end);
    this.#scheduleFlush();
    return true;
  }

  /** A request that is rare, as a whole command. `handler` null: one-way. False as with `post`. */
  postCommand(command: RemotingCommand, handler: AnswerHandler | null, timeoutUs: number): boolean {
    if (!this.#open || this.#waiting.isFull) return false;
    this.#readClock(this.#now);
    const deadlineUs = this.momentUs + timeoutUs;
    const opaque = handler === null ? 0 : this.#waiting.add(handler, 0, deadlineUs);
    const flag = handler === null ? command.flag | CommandFlag.oneWay : command.flag;
    this.#write(encodeFrame({ ...command, opaque, flag }));
    return true;
  }

  /** Answers a request of the broker. */
  respond(to: RemotingCommand, parts: { code: number; remark: string | null }): void {
    if (!this.#open) return;
    const { opaque } = to;
    const flag = CommandFlag.response;
    this.#write(encodeFrame({ ...to, ...parts, opaque, flag, ext: {}, body: EMPTY_BODY }));
  }

  /** Gives up on answers that are late. To be called some times a second. */
  expire(nowUs: number): void {
    this.#timedOut += this.#waiting.expire(nowUs);
    if (this.#open && this.#socket.writableLength > UNSENT_BYTES_MAX) this.#fail(NOT_READING);
  }

  /** Sends what is written and closes; `closed` is not called. */
  end(): void {
    this.#outbox.flush();
    this.#over();
    // Closes once all is sent, whether or not the broker closes its side.
    this.#socket.destroySoon();
    this.#waiting.abandon();
  }

  /** The time for connecting is over. */
  giveUp(): void {
    this.#fail(CONNECT_TIMED_OUT);
  }

  frame(view: FrameView): boolean {
    const head = this.#head;
    if (!head.read(view)) {
      this.#fail(malformedFrame('unreadable header'));
      return false;
    }
    if ((head.flag & CommandFlag.response) === 0) {
      this.#requested(view);
      return !this.#closed;
    }
    this.#answer.frame = view;
    if (!this.#waiting.settle(head.opaque, this.#answer satisfies Answer))
      this.#unknownAnswers += 1;
    return !this.#closed;
  }

  malformed(why: string): void {
    this.#fail(malformedFrame(why));
  }

  #connect(options: ConnectionOptions): Socket {
    const { host, port } = parseAddress(options.address);
    const callback = (length: number): boolean => this.#received(length);
    const onread = { buffer: READ_BUFFER, callback };
    const settings = { host, port, noDelay: true, onread };
    const { tls } = options;
    const socket =
      tls === null ? connectTcp(settings) : connectTls({ servername: host, ...tls, ...settings });
    let error: Error | null = null;
    socket.once(tls === null ? 'connect' : 'secureConnect', () => {
      if (this.#closed) return;
      this.#open = true;
      this.#events.opened(this);
    });
    socket.on('error', (problem) => {
      error = problem;
    });
    socket.once('close', () => this.#lost(socketReason(error)));
    return socket;
  }

  #received(length: number): boolean {
    if (this.#closed) return true;
    this.#readClock(this.#now);
    this.#bytesReceived += length;
    this.#reading = true;
    this.#framer.feed(READ_BUFFER, length);
    this.#reading = false;
    this.#outbox.flush();
    return true;
  }

  #scheduleFlush(): void {
    if (this.#flushDue || this.#reading) return;
    this.#flushDue = true;
    process.nextTick(this.#flush);
  }

  #write(frame: Buffer): void {
    const at = this.#outbox.reserve(frame.length);
    frame.copy(this.#outbox.slab, at);
    this.#outbox.commit(at + frame.length);
    this.#scheduleFlush();
  }

  #requested(view: FrameView): void {
    let command: RemotingCommand;
    try {
      command = decodeFrame(view);
    } catch {
      this.#fail(malformedFrame('unreadable header'));
      return;
    }
    if (this.#events.requested(this, command)) return;
    if ((command.flag & CommandFlag.oneWay) !== 0) return;
    this.respond(command, {
      code: ResponseCode.requestCodeNotSupported,
      remark: `request code ${command.code} is not supported by this client`,
    });
  }

  #fail(reason: string): void {
    this.#socket.destroy();
    this.#lost(reason);
  }

  #lost(reason: string): void {
    if (this.#closed) return;
    this.#over();
    this.#waiting.abandon();
    this.#events.closed(this, reason);
  }

  #over(): void {
    this.#open = false;
    this.#closed = true;
  }
}
