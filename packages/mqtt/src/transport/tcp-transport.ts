// Data path: one send and one received a socket operation.
import { Socket, type SocketConstructorOpts, type TcpSocketConnectOpts } from 'node:net';
import type { DuplexOptions } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import {
  directHandle,
  WAITING,
  type WriteHandle,
  type WriteOwner,
  writeAndLearn,
  writeDirectly,
  WRITTEN,
} from './direct-write.ts';
import { type ReadOwner, readDirectly } from './direct-read.ts';
import { lookupHost } from './host-lookup.ts';
import type { Transport, TransportEvents, TransportOptions } from './transport.ts';

/**
 * Names with several addresses are tried one after the other, each until the kernel gives up or
 * the connect time-out passes: a broker slow to accept under load must not look like a dead one.
 */
export const ADDRESS_ATTEMPT_MS = 3_600_000;

/** A socket that knows its transport, so that one listener function serves all connections. */
class TransportSocket extends Socket {
  transport: TcpTransport | null = null;
}

/**
 * MQTT over a plain TCP socket. Kept lean on purpose, since a worker holds many thousands: reads go
 * into a shared buffer (`onread`), listeners are shared functions, there is no timer a socket.
 */
export class TcpTransport implements Transport, WriteOwner, ReadOwner {
  readonly #socket: TransportSocket;
  readonly #events: TransportEvents;
  readonly #slot: number;
  #silent = false;
  #error: Error | null = null;
  /** Null until the first write, and for good where direct writes are not to be had. */
  #handle: WriteHandle | null = null;
  /** An ordinary write, or several in a row, has not gone out yet. */
  #draining = false;
  /** Writes that the kernel has not taken yet; ordinary ones together count as one. */
  #waiting = 0;

  constructor(options: TransportOptions, events: TransportEvents) {
    this.#slot = options.slot;
    this.#events = events;
    const settings: SocketConstructorOpts & TcpSocketConnectOpts & DuplexOptions = {
      host: options.host,
      port: options.port,
      noDelay: true,
      lookup: lookupHost,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      onread: { buffer: options.readBuffer, callback: (length) => this.received(length) },
      // With a mark of 0 every ordinary write asks for 'drain', so that the one for bytes that got
      // stuck can be subscribed to once it is known that they are.
      writableHighWaterMark: 0,
    };
    if (options.localAddress !== undefined) settings.localAddress = options.localAddress;
    const socket = new TransportSocket(settings);
    this.#socket = socket;
    socket.transport = this;
    socket.on('connect', onConnect);
    socket.on('error', onError);
    socket.on('close', onClose);
    socket.connect(settings);
  }

  send(bytes: Buffer): boolean {
    const handle = this.#handle;
    if (handle === null) return this.#sendOrdinarily(bytes);
    const outcome = writeDirectly(handle, bytes, this);
    if (outcome === WRITTEN) return true;
    if (outcome === WAITING) {
      this.#waiting += 1;
      return false;
    }
    // It may have been lost a moment ago already, with 'close' on its way.
    if (!this.#socket.destroyed) this.#socket.destroy(systemError(outcome));
    return true;
  }

  get unsentBytes(): number {
    // Asked after every message, and the handle's answer is a call into C++.
    if (this.#waiting === 0) return 0;
    return (this.#handle?.writeQueueSize ?? 0) + this.#socket.writableLength;
  }

  /** The first write of a connection, and all where direct writes are not to be had. */
  #sendOrdinarily(bytes: Buffer): boolean {
    const socket = this.#socket;
    writeAndLearn(socket, bytes);
    this.#handle = directHandle(socket);
    if (socket.writableLength === 0) return true;
    if (!this.#draining) {
      this.#draining = true;
      this.#waiting += 1;
      socket.once('drain', onDrain);
    }
    return false;
  }

  finish(): void {
    this.#silent = true;
    this.#socket.end();
  }

  abort(): void {
    this.#silent = true;
    this.#socket.destroy();
  }

  reset(): void {
    this.#silent = true;
    const socket = this.#socket;
    // What is not connected yet would first be connected.
    if (socket.connecting || socket.destroyed) socket.destroy();
    else socket.resetAndDestroy();
  }

  received(length: number): boolean {
    if (!this.#silent) this.#events.received(this.#slot, length);
    return true;
  }

  opened(): void {
    readDirectly(this.#socket, this);
    if (!this.#silent) this.#events.opened(this.#slot);
  }

  drained(): void {
    this.#draining = false;
    this.writeCompleted();
  }

  writeCompleted(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0 && !this.#silent && !this.#socket.destroyed) {
      this.#events.drained(this.#slot);
    }
  }

  failed(error: Error): void {
    this.#error = error;
  }

  closed(): void {
    if (this.#silent) this.#events.gone(this);
    else this.#events.closed(this.#slot, this.#error);
  }
}

function onConnect(this: TransportSocket): void {
  this.transport?.opened();
}

function onDrain(this: TransportSocket): void {
  this.transport?.drained();
}

function onError(this: TransportSocket, error: Error): void {
  this.transport?.failed(error);
}

function onClose(this: TransportSocket): void {
  this.transport?.closed();
}

/** The error that Node makes of a number that its handles give. */
export function systemError(errorNumber: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(errorNumber);
  const error: NodeJS.ErrnoException = new Error(`write ${code}`);
  error.code = code;
  return error;
}
