// Data path
import { Buffer } from 'node:buffer';
import type { Payload } from '@squall/core/plan';
import { item } from '../element.ts';
import type { PlanFiles } from '../plan-files.ts';
import { compressible, incompressible } from './made-up-bytes.ts';
import type { RenderContext } from './render-context.ts';
import { TextForm } from './text-form.ts';

/** What the payloads of a stream are made of. */
export interface PayloadForm {
  /** The one payload of all messages; null where there are several. */
  readonly fixed: Uint8Array | null;
  /** Whether what comes behind a stamp at the beginning is other bytes in every message. */
  readonly restVaries: boolean;
  /** Place of a stamp in text form in what was made last; -1: none. */
  readonly textStampAt: number;
  /** Whether it asks for the number of the message. */
  readonly perMessage: boolean;
  /**
   * The payload of message `j` of a client; valid until the next call.
   * @throws SquallError where a template lacks a value.
   */
  make(position: number, j: number, context: RenderContext): Uint8Array;
}

/** @throws SquallError for a template, Error for a file that is not there. */
export function payloadForm(
  payload: Payload,
  files: PlanFiles,
  context: RenderContext,
): PayloadForm {
  switch (payload.kind) {
    case 'size':
      return madeUp(payload.bytes, payload.fill, context);
    case 'hex':
      return new FixedPayload(Buffer.from(payload.hex, 'hex'));
    case 'text':
      return new FixedPayload(Buffer.from(payload.text));
    case 'file':
      return new FixedPayload(files.bytes(payload.file));
    case 'files':
      return new SeveralPayloads(Array.from(payload.files, (file) => files.bytes(file)));
    case 'template':
    case 'json': {
      const text = new TextForm(payload.template, context, payload.kind === 'json');
      if (text.isStatic) return new FixedPayload(Buffer.from(text.render(context)));
      return text.perMessage ? new TextPayload(text) : new ClientPayload(text);
    }
  }
}

function madeUp(
  bytes: number,
  fill: Extract<Payload, { kind: 'size' }>['fill'],
  context: RenderContext,
): PayloadForm {
  if (fill === 'random') return new RandomPayload(bytes, context);
  return new FixedPayload(fill === 'repeat' ? incompressible(bytes) : compressible(bytes));
}

class FixedPayload implements PayloadForm {
  readonly fixed: Uint8Array;
  readonly restVaries = false;
  readonly textStampAt = -1;
  readonly perMessage = false;

  constructor(bytes: Uint8Array) {
    this.fixed = bytes;
  }

  make(): Uint8Array {
    return this.fixed;
  }
}

/** Random bytes to cut payloads from: large enough that two cuts hardly ever begin alike. */
const POOL_BYTES = 1_048_576;

/** Other bytes in every message: a cut from a random place of a pool, copied, never made anew. */
class RandomPayload implements PayloadForm {
  readonly fixed = null;
  readonly restVaries = true;
  readonly textStampAt = -1;
  readonly perMessage = true;
  readonly #bytes: number;
  /** The payload, and the pool behind it: copied inside one piece of memory, nothing is allocated. */
  readonly #memory: Uint8Array;
  readonly #payload: Uint8Array;

  constructor(bytes: number, context: RenderContext) {
    // Another place of the chain in every worker and group: they do not send each other's bytes.
    const skip = Math.floor(context.random() * POOL_BYTES);
    this.#bytes = bytes;
    this.#memory = new Uint8Array(bytes + POOL_BYTES + bytes);
    this.#memory.set(incompressible(skip + POOL_BYTES + bytes).subarray(skip), bytes);
    this.#payload = this.#memory.subarray(0, bytes);
  }

  make(_position: number, _j: number, context: RenderContext): Uint8Array {
    const from = this.#bytes + Math.floor(context.random() * POOL_BYTES);
    this.#memory.copyWithin(0, from, from + this.#bytes);
    return this.#payload;
  }
}

/** One text a client, rendered when it is asked for first. */
class ClientPayload implements PayloadForm {
  readonly fixed = null;
  readonly restVaries = false;
  readonly textStampAt = -1;
  readonly perMessage = false;
  readonly #text: TextForm;
  readonly #known: (Uint8Array | undefined)[] = [];

  constructor(text: TextForm) {
    this.#text = text;
  }

  make(position: number, _j: number, context: RenderContext): Uint8Array {
    const known = this.#known[position];
    if (known !== undefined) return known;
    const made = Buffer.from(this.#text.render(context));
    this.#known[position] = made;
    return made;
  }
}

/** A text that changes with every message. */
class TextPayload implements PayloadForm {
  readonly fixed = null;
  readonly restVaries = false;
  readonly perMessage = true;
  readonly #text: TextForm;

  constructor(text: TextForm) {
    this.#text = text;
  }

  get textStampAt(): number {
    return this.#text.stampAt;
  }

  make(_position: number, _j: number, context: RenderContext): Uint8Array {
    return this.#text.render(context);
  }
}

/** One file after the other; each client begins with another one. */
class SeveralPayloads implements PayloadForm {
  readonly fixed = null;
  readonly restVaries = false;
  readonly textStampAt = -1;
  readonly perMessage = true;
  readonly #payloads: readonly Uint8Array[];

  constructor(payloads: readonly Uint8Array[]) {
    this.#payloads = payloads;
  }

  make(_position: number, j: number, context: RenderContext): Uint8Array {
    return item(this.#payloads, (context.n + j) % this.#payloads.length);
  }
}
