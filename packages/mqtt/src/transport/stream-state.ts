/**
 * What Node's streams note about the read or write just made. Its own `net` reads it after every
 * operation; asking the handle instead costs a call into C++ a message. It is no public API: where it
 * looks different from what is known, `streamState` is null and everything goes the ordinary way.
 */
export interface StreamState {
  /** The notes: bytes read (or a negative error number), whether the last write has to wait, … */
  readonly notes: Int32Array;
  readonly readBytesOrError: number;
  readonly lastWriteWasAsync: number;
}

/** Of this process; one for all streams. */
export const streamState: StreamState | null = findStreamState();

function findStreamState(): StreamState | null {
  const binding: unknown = Reflect.get(process, 'binding');
  if (typeof binding !== 'function') return null;
  try {
    return stateOf(Reflect.apply(binding, process, ['stream_wrap']));
  } catch {
    // A Node that keeps it to itself, by version or by its permission model.
    return null;
  }
}

function stateOf(binding: unknown): StreamState | null {
  if (typeof binding !== 'object' || binding === null) return null;
  const notes: unknown = Reflect.get(binding, 'streamBaseState');
  const readBytesOrError: unknown = Reflect.get(binding, 'kReadBytesOrError');
  const lastWriteWasAsync: unknown = Reflect.get(binding, 'kLastWriteWasAsync');
  if (!(notes instanceof Int32Array)) return null;
  if (!isIndex(readBytesOrError, notes) || !isIndex(lastWriteWasAsync, notes)) return null;
  return { notes, readBytesOrError, lastWriteWasAsync };
}

function isIndex(value: unknown, notes: Int32Array): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < notes.length;
}
