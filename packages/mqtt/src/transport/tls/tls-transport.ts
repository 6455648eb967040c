// Data path: one send and one received a socket operation.
import { isIP, type OnReadOpts, type TcpSocketConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { type ReadOwner, readDirectly } from '../direct-read.ts';
import {
  directHandle,
  type WriteHandle,
  type WriteOwner,
  writeAndLearn,
  writeEncrypted,
} from '../direct-write.ts';
import { lookupHost } from '../host-lookup.ts';
import { ADDRESS_ATTEMPT_MS, systemError } from '../tcp-transport.ts';
import type { Transport, TransportEvents, TransportOptions } from '../transport.ts';
import { tlsFault } from './tls-reasons.ts';
import type { TlsRequest } from './tls-request.ts';

/** Bytes that wait while a write is under way start with this much room. */
const QUEUE_BYTES = 1024;

/** `tls.connect` takes all of these; its declared options leave some out. */
type Settings = ConnectionOptions & TcpSocketConnectOpts & { readonly onread: OnReadOpts };

type TransportSocket = TLSSocket & { readonly transport: TlsTransport };

/** A handle that says how much it holds. */
interface Holding {
  readonly writeQueueSize: number;
}

/**
 * MQTT over TLS. Reads go into the shared buffer, listeners are shared functions, certificates and
 * trust are read once for many connections. Node ends each write of TLS in a later phase of its
 * event loop; what is sent meanwhile is gathered and becomes one write, and so one TLS record.
 */
export class TlsTransport implements Transport, WriteOwner, ReadOwner {
  readonly #socket: TransportSocket;
  readonly #events: TransportEvents;
  readonly #slot: number;
  readonly #request: TlsRequest;
  /** Who the sessions are of. */
  readonly #server: string;
  #silent = false;
  #secured = false;
  #error: Error | null = null;
  /** Null until the first write, and for good where direct writes are not to be had. */
  #handle: WriteHandle | null = null;
  /** The TCP handle below that of TLS, for what the kernel has not taken. */
  #below: Holding | null = null;
  /** A write was handed over and has not been told as done. */
  #writing = false;
  /** Whoever asked for `unsentBytes` may have seen some, and waits for `drained`. */
  #owesDrained = false;
  /** `finish` waits for the last write. */
  #ending = false;
  #queue: Buffer | null = null;
  #queued = 0;

  constructor(options: TransportOptions, request: TlsRequest, events: TransportEvents) {
    this.#slot = options.slot;
    this.#events = events;
    this.#request = request;
    this.#server = `${options.host}:${options.port}`;
    const socket = connect(this.#settings(options));
    this.#socket = Object.assign(socket, { transport: this });
    socket.setNoDelay(true);
    socket.on('secureConnect', onSecured);
    socket.on('error', onError);
    socket.on('close', onClose);
    if (request.sessions !== null) socket.on('session', onSession);
  }

  send(bytes: Buffer): boolean {
    if (this.#writing) this.#enqueue(bytes);
    else this.#write(bytes);
    if (this.unsentBytes > 0) this.#owesDrained = true;
    return true;
  }

  get unsentBytes(): number {
    if (!this.#writing) return this.#queued;
    const held = this.#below === null ? this.#socket.writableLength : this.#below.writeQueueSize;
    return this.#queued + held;
  }

  finish(): void {
    this.#silent = true;
    if (this.#writing) this.#ending = true;
    else this.#socket.end();
  }

  abort(): void {
    this.#silent = true;
    this.#queued = 0;
    this.#queue = null;
    this.#socket.destroy();
  }

  /** Node resets no connection below TLS: it ends without a close alert. */
  reset(): void {
    this.abort();
  }

  /** All bytes are encrypted at once: the memory is free again when this returns. */
  #write(bytes: Buffer): void {
    const socket = this.#socket;
    // It may have been lost or closed by the peer a moment ago, with 'close' on its way.
    if (socket.destroyed || socket.writableEnded) return;
    this.#writing = true;
    const handle = this.#handle;
    if (handle === null) {
      // Not known to be done with the memory at once; and where direct writes are not to be had,
      // this is the way of every write.
      writeAndLearn(socket, Buffer.from(bytes), () => this.writeCompleted());
      this.#handle = directHandle(socket);
      this.#below = this.#handle === null ? null : handleBelow(this.#handle);
      return;
    }
    const failure = writeEncrypted(handle, bytes, this);
    if (failure === 0) return;
    this.#writing = false;
    socket.destroy(systemError(failure));
  }

  #enqueue(bytes: Buffer): void {
    const needed = this.#queued + bytes.length;
    let queue = this.#queue;
    if (queue === null || queue.length < needed) {
      const grown = Buffer.allocUnsafeSlow(Math.max(QUEUE_BYTES, needed * 2));
      if (queue !== null) grown.set(queue.subarray(0, this.#queued));
      queue = grown;
      this.#queue = grown;
    }
    queue.set(bytes, this.#queued);
    this.#queued = needed;
  }

  /** Why a write failed is told by reading, where the peer's last word (an alert) may lie. */
  writeCompleted(): void {
    this.#writing = false;
    const queue = this.#queue;
    if (queue !== null) {
      const length = this.#queued;
      this.#queued = 0;
      this.#queue = null;
      this.#write(queue.subarray(0, length));
    }
    if (this.#ending && !this.#writing) this.#socket.end();
    if (!this.#owesDrained || this.unsentBytes > 0) return;
    this.#owesDrained = false;
    if (!this.#silent && !this.#socket.destroyed) this.#events.drained(this.#slot);
  }

  #settings(options: TransportOptions): Settings {
    const { context, servername, verify, alpn, sessions } = this.#request;
    const { host } = options;
    const name = servername ?? (isIP(host) === 0 ? host : null);
    const session = sessions?.of(this.#slot, this.#server);
    return {
      host,
      port: options.port,
      lookup: lookupHost,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      secureContext: context,
      rejectUnauthorized: verify,
      onread: { buffer: options.readBuffer, callback: (length) => this.received(length) },
      ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
      ...(name === null ? {} : { servername: name }),
      ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
      ...(session === undefined ? {} : { session }),
    };
  }

  received(length: number): boolean {
    if (!this.#silent) this.#events.received(this.#slot, length);
    return true;
  }

  secured(): void {
    this.#secured = true;
    readDirectly(this.#socket, this);
    this.#request.sessions?.shakenHands(this.#socket.isSessionReused());
    if (!this.#silent) this.#events.opened(this.#slot);
  }

  sessionGiven(session: Buffer): void {
    this.#request.sessions?.keep(this.#slot, this.#server, session);
  }

  failed(error: Error): void {
    this.#error = tlsFault(error, this.#secured);
    if (!this.#secured) this.#request.sessions?.forget(this.#slot);
  }

  closed(): void {
    if (this.#silent) this.#events.gone(this);
    else this.#events.closed(this.#slot, this.#error);
  }
}

/** Of the handle of TLS itself nothing can be told: it keeps what it has written for a while. */
function handleBelow(handle: WriteHandle): Holding | null {
  const below: unknown = Reflect.get(handle, '_parent');
  return isHolding(below) ? below : null;
}

function isHolding(handle: unknown): handle is Holding {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'writeQueueSize' in handle &&
    typeof handle.writeQueueSize === 'number'
  );
}

function onSecured(this: TransportSocket): void {
  this.transport.secured();
}

function onSession(this: TransportSocket, session: Buffer): void {
  this.transport.sessionGiven(session);
}

function onError(this: TransportSocket, error: Error): void {
  this.transport.failed(error);
}

function onClose(this: TransportSocket): void {
  this.transport.closed();
}
