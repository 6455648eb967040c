// Data path: one call a socket read.
import type { Socket } from 'node:net';
import { streamState } from './stream-state.ts';

/** Who gets what a socket reads; the bytes lie in the buffer that was given to `onread`. */
export interface ReadOwner {
  received(length: number): unknown;
}

/** How `net` itself is called by its handle. */
type OnRead = (this: ReadHandle, ...seen: unknown[]) => unknown;

interface ReadHandle {
  onread: OnRead;
  readOwner?: ReadOwner;
  ordinaryOnRead?: OnRead;
}

/**
 * Reads of an open socket with an `onread` buffer go straight to the owner, past what `net` does in
 * between (a timer looked after, a callback looked up). Everything that is not simply bytes, the end
 * and errors, still goes through `net`. Where the inside of Node looks different from what is known,
 * nothing changes, and the socket's own `onread` callback goes on being called.
 */
export function readDirectly(socket: Socket, owner: ReadOwner): void {
  if (streamState === null) return;
  const handle: unknown = Reflect.get(socket, '_handle');
  if (!isReadHandle(handle)) return;
  handle.readOwner = owner;
  handle.ordinaryOnRead = handle.onread;
  handle.onread = onRead;
}

const notes = streamState?.notes ?? new Int32Array(1);
const at = streamState?.readBytesOrError ?? 0;

function onRead(this: ReadHandle, ...seen: unknown[]): unknown {
  const length = notes[at] ?? 0;
  if (length > 0 && this.readOwner !== undefined) {
    this.readOwner.received(length);
    return undefined;
  }
  return this.ordinaryOnRead?.(...seen);
}

function isReadHandle(handle: unknown): handle is ReadHandle {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'onread' in handle &&
    typeof handle.onread === 'function'
  );
}
