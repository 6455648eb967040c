// Data path
import { Buffer } from 'node:buffer';
import { TEXT_STAMP_BYTES } from '@squall/core/stamp';
import { compileTemplate, renderPart, type TemplatePart } from '@squall/core/template';
import { at, item } from '../element.ts';
import { digitsIn, writeDigitsBack, writeUuid } from './digits.ts';
import type { RenderContext } from './render-context.ts';

const STATIC = 0;
const NUMBER = 1;
const UUID = 2;
const COLUMN = 3;
const STAMP = 4;

interface Piece {
  readonly kind: number;
  /** Of a static piece. */
  readonly bytes: Buffer;
  readonly part: TemplatePart;
}

/** Lengths whose views are kept: a text with a few numbers in it has hardly more. */
const KEPT_VIEWS = 256;
const EMPTY = Buffer.alloc(0);
const UUID_BYTES = 36;

/**
 * A text that is rendered again and again into one piece of memory. What does not change stays where it
 * is as long as nothing before it grows or shrinks: a text of a megabyte with a number in it costs the
 * number. Texts of columns are escaped where they stand in JSON.
 */
export class TextForm {
  /** Changes with each message, so that it cannot be kept for a client. */
  readonly perMessage: boolean;
  /** The same for all clients of the group. */
  readonly isStatic: boolean;
  /** Where the stamp stands in what was rendered last; -1: none. */
  stampAt = -1;
  readonly #pieces: readonly Piece[];
  readonly #isJson: boolean;
  /** Where each static piece stands in the memory; infinite: nowhere yet. */
  readonly #places: Float64Array;
  /** The number that is being written. */
  readonly #number = new Float64Array(1);
  readonly #views = new Map<number, Uint8Array>();
  #memory: Buffer;

  /** @throws SquallError where the text is no template, or lacks a value that all clients share. */
  constructor(text: string, context: RenderContext, isJson: boolean) {
    const template = compileTemplate(text);
    this.perMessage = template.perMessage;
    this.isStatic = template.isStatic;
    this.#isJson = isJson;
    this.#pieces = piecesOf(template.parts, context, isJson);
    this.#places = new Float64Array(this.#pieces.length).fill(Number.POSITIVE_INFINITY);
    const fixed = this.#pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.#memory = Buffer.alloc(fixed + 64 * (1 + this.#pieces.length));
  }

  /**
   * Renders for the client and message of the context. The bytes are valid until the next call.
   * @throws SquallError where a value is missing.
   */
  render(context: RenderContext): Uint8Array {
    this.stampAt = -1;
    let end = 0;
    for (let k = 0; k < this.#pieces.length; k++) end = this.#write(k, end, context);
    return this.#view(end);
  }

  /** Writes piece `k` at `from` and gives its end. */
  #write(k: number, from: number, context: RenderContext): number {
    const piece = item(this.#pieces, k);
    switch (piece.kind) {
      case STATIC:
        return this.#writeStatic(k, from, piece.bytes);
      case NUMBER:
        return this.#writeNumber(piece.part, from, context);
      case UUID:
        this.#reserve(from + UUID_BYTES);
        writeUuid(this.#memory, from, context);
        return from + UUID_BYTES;
      case STAMP:
        this.#reserve(from + TEXT_STAMP_BYTES);
        this.stampAt = from;
        return from + TEXT_STAMP_BYTES;
      default:
        return this.#writeText(renderPart(piece.part, context), from);
    }
  }

  #writeStatic(k: number, from: number, bytes: Buffer): number {
    const end = from + bytes.length;
    if (at(this.#places, k) === from) return end;
    this.#reserve(end);
    bytes.copy(this.#memory, from);
    this.#places[k] = from;
    return end;
  }

  #writeNumber(part: TemplatePart, from: number, context: RenderContext): number {
    const cell = this.#number;
    takeNumber(cell, part, context);
    const width = part.kind === 'index' ? part.width : 0;
    const digits = Math.max(width, digitsIn(cell));
    const sign = at(cell, 0) < 0 ? 1 : 0;
    const end = from + sign + digits;
    this.#reserve(end);
    // Zeros fill what the number leaves of its width.
    this.#memory.fill(ZERO, from, end);
    if (sign === 1) this.#memory[from] = MINUS;
    writeDigitsBack(this.#memory, end, cell);
    return end;
  }

  #writeText(text: string, from: number): number {
    const shown = this.#isJson ? jsonText(text) : text;
    // UTF-8 has at most three bytes for each unit of UTF-16.
    this.#reserve(from + shown.length * 3);
    return from + this.#memory.write(shown, from);
  }

  #reserve(end: number): void {
    if (end <= this.#memory.length) return;
    const larger = Buffer.alloc(Math.max(end, this.#memory.length * 2));
    this.#memory.copy(larger);
    this.#memory = larger;
    this.#views.clear();
  }

  #view(length: number): Uint8Array {
    const known = this.#views.get(length);
    if (known !== undefined) return known;
    if (this.#views.size >= KEPT_VIEWS) this.#views.clear();
    const made = this.#memory.subarray(0, length);
    this.#views.set(length, made);
    return made;
  }
}

const MINUS = 0x2d;
const ZERO = 0x30;

/** Puts the number that an expression stands for into `cell[0]`. */
function takeNumber(cell: Float64Array, part: TemplatePart, context: RenderContext): void {
  if (part.kind === 'index') {
    const index = indexOf(part.of, context);
    if (part.op === '%') cell[0] = index % part.operand;
    else cell[0] = part.op === '-' ? index - part.operand : index + part.operand;
  } else if (part.kind === 'now') {
    cell[0] = Math.floor(context.nowMs);
  } else if (part.kind === 'random') {
    cell[0] = part.min + Math.floor(context.random() * (part.max - part.min + 1));
  }
}

function indexOf(of: 'n' | 'block.n' | 'seq', context: RenderContext): number {
  if (of === 'seq') return context.seq;
  return (of === 'n' ? context.n : context.blockN) + 1;
}

/** What all clients share is rendered once, and joined with what stands beside it. */
function piecesOf(
  parts: readonly TemplatePart[],
  context: RenderContext,
  isJson: boolean,
): Piece[] {
  const pieces: Piece[] = [];
  let text = '';
  const close = () => {
    if (text === '') return;
    pieces.push({ kind: STATIC, bytes: Buffer.from(text), part: { kind: 'text', text } });
    text = '';
  };
  for (const part of parts) {
    const kind = kindOf(part);
    if (kind === STATIC) {
      const shown = renderPart(part, context);
      text += isJson && part.kind !== 'text' ? jsonText(shown) : shown;
      continue;
    }
    close();
    pieces.push({ kind, bytes: EMPTY, part });
  }
  close();
  return pieces;
}

function kindOf(part: TemplatePart): number {
  switch (part.kind) {
    case 'index':
    case 'random':
    case 'now':
      return NUMBER;
    case 'uuid':
      return UUID;
    case 'csv':
      return COLUMN;
    case 'stamp':
      return STAMP;
    case 'text':
    case 'run':
    case 'group':
    case 'env':
    case 'var':
      return STATIC;
  }
}

/** As it stands between the quotes of a JSON text. */
function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
