import { STAMP_NONE, STAMP_OK, type StampReader } from '@squall/core/stamp';
import { MAX_DEPTH } from './limits.ts';

/** Told of each message in a body, with what the reader said of its stamp. */
export type TakeMessage = (state: number, bytes: Uint8Array) => void;

/** What begins so in base64 is a stamp: its first three bytes are always the same. */
const BASE64_STAMP = 'U1EB';
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const OPENS_OBJECT = 0x7b;
const OPENS_ARRAY = 0x5b;
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Finds the messages in the body of a request: the payload itself, its base64, JSON with the payload as
 * member `payload` (as text, in base64, or as JSON), or an array of any of these.
 * @returns why nothing could be found; null where something was.
 */
export function eachPayload(
  body: Uint8Array,
  reader: StampReader,
  take: TakeMessage,
): 'empty' | 'not JSON' | null {
  if (body.length === 0) return 'empty';
  const state = reader.read(body, 0, body.length);
  if (state === STAMP_OK || !looksLikeJson(body)) {
    takeText(state, body, { reader, take });
    return null;
  }
  const json = parsed(body);
  if (json === undefined) return 'not JSON';
  return walk(json, { reader, take, depth: 0 }) === 0 ? 'empty' : null;
}

function looksLikeJson(body: Uint8Array): boolean {
  let at = 0;
  while (at < body.length && BLANKS.has(body[at] ?? 0)) at++;
  return body[at] === OPENS_OBJECT || body[at] === OPENS_ARRAY;
}

function parsed(body: Uint8Array): unknown {
  try {
    const json: unknown = JSON.parse(textOf(body));
    return json;
  } catch {
    return undefined;
  }
}

interface Scene {
  readonly reader: StampReader;
  readonly take: TakeMessage;
}

/** How many messages it holds. */
function walk(json: unknown, scene: Scene & { readonly depth: number }): number {
  const { depth } = scene;
  if (Array.isArray(json) && depth < MAX_DEPTH) {
    let found = 0;
    for (const one of json) found += walk(one, { ...scene, depth: depth + 1 });
    return found;
  }
  const isWrapped = typeof json === 'object' && json !== null && 'payload' in json;
  if (isWrapped && depth < MAX_DEPTH) {
    return walk(json.payload, { ...scene, depth: depth + 1 });
  }
  // A payload that is JSON itself comes as an object where the broker has decoded it.
  const text = typeof json === 'string' ? json : writtenAgain(json);
  if (text === null) {
    scene.take(STAMP_NONE, NO_BYTES);
    return 1;
  }
  const bytes = Buffer.from(text);
  takeText(scene.reader.read(bytes, 0, bytes.length), bytes, scene);
  return 1;
}

const NO_BYTES = new Uint8Array(0);

/** Null for what lies too deep in itself to be written: nobody publishes that. */
function writtenAgain(json: unknown): string | null {
  try {
    return JSON.stringify(json) ?? null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Where the bytes themselves say nothing they may be the base64 of something that does. */
function takeText(state: number, bytes: Uint8Array, { reader, take }: Scene): void {
  const decoded = state === STAMP_OK ? null : decodedOf(bytes);
  if (decoded === null) {
    take(state, bytes);
    return;
  }
  const inner = reader.read(decoded, 0, decoded.length);
  if (inner === STAMP_OK) {
    take(inner, decoded);
    return;
  }
  // What the outer bytes claim is the better guess where both are damaged: read again, it is there.
  const isStamp = startsWithStamp(bytes);
  const best = isStamp ? decoded : bytes;
  take(reader.read(best, 0, best.length), best);
}

/** A payload in base64 that carries a stamp at its beginning, or text that carries one. */
function decodedOf(bytes: Uint8Array): Uint8Array | null {
  // The shortest text stamp has 54 characters, which are 72 in base64; a stamp as bytes has 56.
  if (bytes.length < 54 || bytes.length % 4 === 1) return null;
  const text = textOf(bytes);
  return BASE64.test(text) ? Buffer.from(text, 'base64') : null;
}

function startsWithStamp(bytes: Uint8Array): boolean {
  return textOf(bytes.subarray(0, BASE64_STAMP.length)) === BASE64_STAMP;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
