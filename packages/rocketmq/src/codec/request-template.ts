// Data path: every request of the load is written here.
import type { AclSigner } from './acl-signer.ts';
import { byteAt, element, writeInt32 } from './bytes.ts';
import { Serialization } from './command.ts';
import {
  BINARY_MAP_AT,
  BINARY_MAP_LENGTH_AT,
  HEAD_BYTES,
  layOut,
  OPAQUE_DIGITS,
  type RequestTemplateOptions,
  type TemplateLayout,
  type Variable,
} from './template-layout.ts';
import { isPlain, writeDecimal, writeEscaped } from './text-bytes.ts';

const EMPTY = Buffer.alloc(0);
const QUOTE = 0x22;
const SPACE = 0x20;
const ZERO = 0x30;
/** A control character in JSON: `\u0001`. */
const ESCAPED_BYTES_MAX = 6;

/**
 * A request of which most never changes: everything constant is written once, and each request is a
 * copy with the opaque, a few values at the end and the signature put in. Set the values, then
 * `writeHeader`, the body behind it, then `finish`.
 */
export class RequestTemplate {
  readonly #json: boolean;
  readonly #signer: AclSigner | null;
  readonly #layout: TemplateLayout;
  readonly #variables: readonly Variable[];
  #signed = Buffer.alloc(512);

  /** @throws RangeError without a constant field */
  constructor(options: RequestTemplateOptions) {
    this.#signer = options.signer ?? null;
    this.#layout = layOut(options);
    this.#json = this.#layout.json;
    this.#variables = this.#layout.variables;
  }

  /** Sets a variable to a whole number. */
  setNumber(index: number, value: number): void {
    const variable = this.#variable(index);
    if (variable.number === value) return;
    variable.number = value;
    variable.length = writeDecimal(variable.value, value);
  }

  /**
   * Memory for `length` bytes of a variable's raw text. The caller fills it; no quote, backslash or
   * control character in it needs care.
   */
  setText(index: number, length: number): Buffer {
    const variable = this.#variable(index);
    if (length > variable.value.length) variable.value = Buffer.alloc(length * 2);
    variable.length = length;
    variable.number = Number.NaN;
    return variable.value;
  }

  /** No header with the present values is longer, the frame's head included. */
  get headerBytesMax(): number {
    let size = this.#layout.fixed.length + this.#layout.tail.length;
    for (const variable of this.#variables) {
      size += variable.lead.length + variable.prefix.length;
      size += this.#json ? variable.length * ESCAPED_BYTES_MAX + 1 : variable.length;
    }
    return size;
  }

  /** Writes head and header; gives where the body goes. */
  writeHeader(target: Buffer, at: number, opaque: number): number {
    const { fixed, tail, opaqueAt } = this.#layout;
    fixed.copy(target, at);
    let end = at + fixed.length;
    if (this.#json) {
      writeOpaque(target, at + opaqueAt, opaque);
      for (let i = 0; i < this.#variables.length; i += 1) end = this.#writeJson(target, end, i);
      tail.copy(target, end);
      end += tail.length;
    } else {
      writeInt32(target, at + opaqueAt, opaque);
      for (let i = 0; i < this.#variables.length; i += 1) end = this.#writeBinary(target, end, i);
      writeInt32(target, at + BINARY_MAP_LENGTH_AT, end - at - BINARY_MAP_AT);
    }
    const headerLength = end - at - HEAD_BYTES;
    const type = this.#json ? Serialization.json : Serialization.binary;
    writeInt32(target, at + 4, (type << 24) | headerLength);
    return end;
  }

  /** Closes the frame that began at `at`: its body, up to `end`, is in place. */
  finish(target: Buffer, at: number, end: number): void {
    writeInt32(target, at, end - at - 4);
    const signer = this.#signer;
    if (signer === null) return;
    const headerLength = (byteAt(target, at + 5) << 16) | (byteAt(target, at + 6) << 8);
    const bodyAt = at + HEAD_BYTES + (headerLength | byteAt(target, at + 7));
    const length = this.#collectSigned();
    const signature = signer.sign(this.#signed.subarray(0, length), target.subarray(bodyAt, end));
    target.write(signature, at + this.#layout.signatureAt, 'latin1');
  }

  #variable(index: number): Variable {
    const variable = this.#variables[index];
    if (variable === undefined) throw new RangeError(`no variable ${index}`);
    return variable;
  }

  #writeJson(target: Buffer, at: number, index: number): number {
    const variable = this.#variable(index);
    const { lead, value, length } = variable;
    lead.copy(target, at);
    let end = at + lead.length;
    if (variable.number === variable.number || isPlain(value, length)) {
      for (let i = 0; i < length; i += 1) target[end + i] = byteAt(value, i);
      end += length;
    } else end = writeEscaped(target, end, value.subarray(0, length));
    target[end] = QUOTE;
    return end + 1;
  }

  #writeBinary(target: Buffer, at: number, index: number): number {
    const { lead, prefix, value, length } = this.#variable(index);
    // From 4.9.4 on brokers read an empty value as null, and sign the word "null".
    if (length + prefix.length === 0) return at;
    lead.copy(target, at);
    const valueAt = at + lead.length - prefix.length;
    writeInt32(target, valueAt - 4, prefix.length + length);
    value.copy(target, valueAt + prefix.length, 0, length);
    return valueAt + prefix.length + length;
  }

  #collectSigned(): number {
    const { signedTexts, signedVariables } = this.#layout;
    let needed = 0;
    for (const text of signedTexts) needed += text.length;
    for (const variable of this.#variables) needed += variable.prefix.length + variable.length;
    if (needed > this.#signed.length) this.#signed = Buffer.alloc(needed * 2);
    let at = 0;
    for (let i = 0; i < signedTexts.length; i += 1) {
      at += (signedTexts[i] ?? EMPTY).copy(this.#signed, at);
      const index = element(signedVariables, i);
      if (index < 0) continue;
      const { prefix, value, length } = this.#variable(index);
      at += prefix.copy(this.#signed, at);
      at += value.copy(this.#signed, at, 0, length);
    }
    return at;
  }
}

function writeOpaque(target: Buffer, at: number, opaque: number): void {
  let rest = opaque;
  for (let i = OPAQUE_DIGITS - 1; i >= 0; i -= 1) {
    if (rest === 0 && i < OPAQUE_DIGITS - 1) target[at + i] = SPACE;
    else {
      const next = (rest / 10) | 0;
      target[at + i] = ZERO + (rest - next * 10);
      rest = next;
    }
  }
}
