// Data path: one request object a write that has to wait, none otherwise.
import type { Socket } from 'node:net';
import { streamState } from './stream-state.ts';

/**
 * Writing to a TCP socket past `net.Socket.write`, whose bookkeeping (a request object, a tick, 200
 * bytes of garbage a write) is a good part of what a small message costs. This is how `net` itself
 * talks to its handle. It is no public API, so it is learnt at run time from an ordinary write, and
 * a Node where that write looks different is served by `net.Socket.write`.
 */
export interface WriteHandle {
  /** 0, or a negative error number of the system. May read from `bytes` later. */
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
  /** Bytes that the kernel has not taken yet. */
  readonly writeQueueSize: number;
}

/** What a handle wants for each write; it keeps the object for as long as the write waits. */
interface WriteRequest {
  oncomplete: (this: WriteRequest, status: number) => void;
  /** Keeps the memory alive that is still to be read. */
  buffer: Buffer | null;
  owner: WriteOwner | null;
}

type WriteRequestClass = new () => WriteRequest;

export interface WriteOwner {
  /** A write that had to wait is done, or failed together with its socket. */
  writeCompleted(): void;
}

/** `writeDirectly`: the kernel has all bytes. */
export const WRITTEN = 0;
/** `writeDirectly`: the rest is read from the same memory later; then the owner is told. */
export const WAITING = 1;

/** Whether an ordinary write was watched; what it did not show will not show later. */
let learnt = false;
let requestClass: WriteRequestClass | null = null;
/** A request that no write holds: it serves again as long as the kernel takes every write at once. */
let spare: WriteRequest | null = null;

/** The handle of an open socket, or null: direct writes are not to be had. */
export function directHandle(socket: Socket): WriteHandle | null {
  return requestClass === null ? null : handleOf(socket);
}

/** `socket.write`; the first one in a process also shows how `net` does it. */
export function writeAndLearn(socket: Socket, bytes: Buffer, written?: () => void): void {
  const handle = learnt ? null : handleOf(socket);
  learnt = true;
  if (handle !== null) watchOneWrite(handle);
  socket.write(bytes, written);
  if (handle !== null) Reflect.deleteProperty(handle, 'writeBuffer');
}

/** Gives `WRITTEN`, `WAITING` or a negative error number of the system. */
export function writeDirectly(handle: WriteHandle, bytes: Buffer, owner: WriteOwner): number {
  spare ??= newRequest();
  const request = spare;
  const failure = handle.writeBuffer(request, bytes);
  if (failure !== 0) return failure;
  if (isWritten(handle)) return WRITTEN;
  request.buffer = bytes;
  request.owner = owner;
  spare = null;
  return WAITING;
}

/** Whether the kernel took all of the write just made. */
function isWritten(handle: WriteHandle): boolean {
  if (streamState === null) return handle.writeQueueSize === 0;
  return streamState.notes[streamState.lastWriteWasAsync] === 0;
}

/**
 * The same to a TLS handle, which encrypts all bytes at once (the memory may be used again) and
 * tells each write's end later. Only one write may be under way. Gives 0 or a negative error number.
 */
export function writeEncrypted(handle: WriteHandle, bytes: Buffer, owner: WriteOwner): number {
  const request = newRequest();
  request.owner = owner;
  return handle.writeBuffer(request, bytes);
}

function newRequest(): WriteRequest {
  if (requestClass === null) throw new Error('direct writes were not learnt');
  const request = new requestClass();
  request.oncomplete = onComplete;
  request.buffer = null;
  request.owner = null;
  return request;
}

function onComplete(this: WriteRequest): void {
  const { owner } = this;
  this.buffer = null;
  this.owner = null;
  owner?.writeCompleted();
}

interface WatchedHandle {
  writeBuffer(...seen: unknown[]): unknown;
}

/** Newer versions of Node write in other ways: whatever is seen is passed on as it is. */
function watchOneWrite(handle: WatchedHandle): void {
  Object.defineProperty(handle, 'writeBuffer', {
    configurable: true,
    value: (...seen: unknown[]): unknown => {
      Reflect.deleteProperty(handle, 'writeBuffer');
      const [request] = seen;
      const made = typeof request === 'object' ? request?.constructor : undefined;
      if (isRequestClass(made)) requestClass = made;
      return handle.writeBuffer(...seen);
    },
  });
}

function handleOf(socket: Socket): WriteHandle | null {
  const handle: unknown = Reflect.get(socket, '_handle');
  return isWriteHandle(handle) ? handle : null;
}

function isWriteHandle(handle: unknown): handle is WriteHandle {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'writeBuffer' in handle &&
    typeof handle.writeBuffer === 'function' &&
    'writeQueueSize' in handle &&
    typeof handle.writeQueueSize === 'number'
  );
}

function isRequestClass(value: unknown): value is WriteRequestClass {
  return typeof value === 'function' && value.name === 'WriteWrap';
}
