// Data path: every request of the load is written here.
import type { AclSigner } from './acl-signer.ts';
import { byteAt, element, writeInt16, writeInt32 } from './bytes.ts';
import { CLIENT_LANGUAGE, CLIENT_LANGUAGE_BYTE, CLIENT_VERSION, Serialization } from './command.ts';
import { isPlain, jsonText, writeDecimal, writeEscaped } from './text-bytes.ts';

export interface RequestTemplateOptions {
  readonly code: number;
  /** Bits of `CommandFlag`. */
  readonly flag?: number;
  readonly serialization?: Serialization;
  readonly signer?: AclSigner | null;
  /** Fields that are the same in every request; at least one. */
  readonly constants: Readonly<Record<string, string>>;
  /** Fields that change, in the order of their indexes. */
  readonly variables: readonly TemplateVariable[];
}

interface TemplateVariable {
  readonly name: string;
  /** What every value of it begins with. */
  readonly prefix?: string;
}

/** Total length, type byte, header length. */
const HEAD_BYTES = 8;
/** Room for an opaque: any positive `int`, with spaces before it, which JSON allows there. */
const OPAQUE_DIGITS = 10;
/** HMAC-SHA1 in Base64. */
const SIGNATURE_LENGTH = 28;
const VALUE_BYTES_MIN = 64;
const EMPTY = Buffer.alloc(0);
const QUOTE = 0x22;
const SPACE = 0x20;
const ZERO = 0x30;
/** A control character in JSON: `\u0001`. */
const ESCAPED_BYTES_MAX = 6;

/** A field that changes: its value of now, and the bytes around it that never change. */
interface Variable {
  /** Raw, for the signature. */
  readonly prefix: Buffer;
  /** What stands before the changing part, as the header has it. */
  readonly lead: Buffer;
  value: Buffer;
  length: number;
  /** What `value` says, where it is a number. */
  number: number;
}

/**
 * A request of which most never changes: everything constant is written once, and each request is a
 * copy with the opaque, a few values at the end and the signature put in. Set the values, then
 * `writeHeader`, the body behind it, then `finish`.
 */
export class RequestTemplate {
  readonly #json: boolean;
  readonly #signer: AclSigner | null;
  readonly #fixed: Buffer;
  readonly #tail: Buffer;
  readonly #opaqueAt: number;
  readonly #signatureAt: number;
  readonly #variables: readonly Variable[];
  /** What is signed, in order: constant text, then the variable behind it (-1: none). */
  readonly #signedTexts: readonly Buffer[];
  readonly #signedVariables: Int32Array;
  #signed = Buffer.alloc(512);

  constructor(options: RequestTemplateOptions) {
    this.#json = (options.serialization ?? Serialization.json) === Serialization.json;
    this.#signer = options.signer ?? null;
    const constants = constantFields(options);
    if (Object.keys(constants).length === 0) throw new RangeError('a template without constants');
    const layout = this.#json ? jsonLayout(options, constants) : binaryLayout(options, constants);
    this.#fixed = layout.fixed;
    this.#tail = layout.tail;
    this.#opaqueAt = layout.opaqueAt;
    this.#signatureAt = layout.signatureAt;
    this.#variables = options.variables.map((variable) => newVariable(variable, this.#json));
    const order = signedOrder(options.variables, constants);
    this.#signedTexts = order.texts;
    this.#signedVariables = order.variables;
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
    let size = this.#fixed.length + this.#tail.length;
    for (const variable of this.#variables) {
      size += variable.lead.length + variable.prefix.length;
      size += this.#json ? variable.length * ESCAPED_BYTES_MAX + 1 : variable.length;
    }
    return size;
  }

  /** Writes head and header; gives where the body goes. */
  writeHeader(target: Buffer, at: number, opaque: number): number {
    const fixed = this.#fixed;
    fixed.copy(target, at);
    let end = at + fixed.length;
    if (this.#json) {
      writeOpaque(target, at + this.#opaqueAt, opaque);
      for (let i = 0; i < this.#variables.length; i += 1) end = this.#writeJson(target, end, i);
      this.#tail.copy(target, end);
      end += this.#tail.length;
    } else {
      writeInt32(target, at + this.#opaqueAt, opaque);
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
    target.write(signature, at + this.#signatureAt, 'latin1');
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
    let needed = 0;
    for (const text of this.#signedTexts) needed += text.length;
    for (const variable of this.#variables) needed += variable.prefix.length + variable.length;
    if (needed > this.#signed.length) this.#signed = Buffer.alloc(needed * 2);
    let at = 0;
    for (let i = 0; i < this.#signedTexts.length; i += 1) {
      at += (this.#signedTexts[i] ?? EMPTY).copy(this.#signed, at);
      const index = element(this.#signedVariables, i);
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

function newVariable(variable: TemplateVariable, json: boolean): Variable {
  const text = variable.prefix ?? '';
  const prefix = Buffer.from(text);
  const value = Buffer.alloc(VALUE_BYTES_MIN);
  const lead = json
    ? Buffer.from(`,${JSON.stringify(variable.name)}:"${jsonText(text)}`)
    : Buffer.concat([binaryName(variable.name), Buffer.alloc(4), prefix]);
  return { prefix, lead, value, length: 0, number: Number.NaN };
}

function constantFields(options: RequestTemplateOptions): Record<string, string> {
  const { signer } = options;
  if (signer === null || signer === undefined) return { ...options.constants };
  const token = signer.securityToken === undefined ? {} : { SecurityToken: signer.securityToken };
  return { ...options.constants, ...token, AccessKey: signer.accessKey };
}

interface Layout {
  readonly fixed: Buffer;
  readonly tail: Buffer;
  readonly opaqueAt: number;
  readonly signatureAt: number;
}

type Fields = Readonly<Record<string, string>>;

function jsonLayout(options: RequestTemplateOptions, constants: Fields): Layout {
  const space = ' '.repeat(OPAQUE_DIGITS);
  const start = `{"code":${options.code},"language":"${CLIENT_LANGUAGE}","version":${CLIENT_VERSION},"flag":${options.flag ?? 0},"opaque":`;
  const signature = `,"extFields":{"Signature":"`;
  const signed = options.signer !== null && options.signer !== undefined;
  const slot = signed ? { Signature: ' '.repeat(SIGNATURE_LENGTH) } : {};
  const fields = Object.entries({ ...slot, ...constants });
  const inside = fields
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join(',');
  const text = `${start}${space},"extFields":{${inside}`;
  return {
    fixed: Buffer.concat([Buffer.alloc(HEAD_BYTES), Buffer.from(text)]),
    tail: Buffer.from('}}'),
    opaqueAt: HEAD_BYTES + start.length,
    signatureAt: HEAD_BYTES + start.length + OPAQUE_DIGITS + signature.length,
  };
}

/** Code, language, version, opaque, flag, remark length. */
const BINARY_MAP_LENGTH_AT = HEAD_BYTES + 17;
const BINARY_MAP_AT = BINARY_MAP_LENGTH_AT + 4;

function binaryLayout(options: RequestTemplateOptions, constants: Fields): Layout {
  const start = Buffer.alloc(BINARY_MAP_AT);
  writeInt16(start, HEAD_BYTES, options.code);
  start[HEAD_BYTES + 2] = CLIENT_LANGUAGE_BYTE;
  writeInt16(start, HEAD_BYTES + 3, CLIENT_VERSION);
  writeInt32(start, HEAD_BYTES + 9, options.flag ?? 0);
  const signed = options.signer !== null && options.signer !== undefined;
  const entries = Object.entries(
    signed ? { Signature: ' '.repeat(SIGNATURE_LENGTH), ...constants } : constants,
  ).flatMap(([name, value]) => (value === '' ? [] : [binaryName(name), binaryValue(value)]));
  return {
    fixed: Buffer.concat([start, ...entries]),
    tail: EMPTY,
    opaqueAt: HEAD_BYTES + 5,
    signatureAt: BINARY_MAP_AT + 2 + 'Signature'.length + 4,
  };
}

function binaryName(name: string): Buffer {
  const bytes = Buffer.alloc(2 + Buffer.byteLength(name));
  writeInt16(bytes, 0, bytes.length - 2);
  bytes.write(name, 2);
  return bytes;
}

function binaryValue(value: string): Buffer {
  const bytes = Buffer.alloc(4 + Buffer.byteLength(value));
  writeInt32(bytes, 0, bytes.length - 4);
  bytes.write(value, 4);
  return bytes;
}

/** Fields sorted as Java sorts strings; constants side by side become one text. */
function signedOrder(
  variables: readonly TemplateVariable[],
  constants: Fields,
): { texts: Buffer[]; variables: Int32Array } {
  const indexes = new Map(variables.map((variable, index) => [variable.name, index]));
  const texts: string[] = [''];
  const order: number[] = [-1];
  for (const name of [...Object.keys(constants), ...indexes.keys()].toSorted(byCodeUnit)) {
    const last = texts.length - 1;
    const index = indexes.get(name);
    if (index === undefined) texts[last] += constants[name] ?? '';
    else {
      order[last] = index;
      texts.push('');
      order.push(-1);
    }
  }
  return { texts: texts.map((text) => Buffer.from(text)), variables: Int32Array.from(order) };
}

function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
