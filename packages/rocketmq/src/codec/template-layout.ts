import type { AclSigner } from './acl-signer.ts';
import { writeInt16, writeInt32 } from './bytes.ts';
import { CLIENT_LANGUAGE, CLIENT_LANGUAGE_BYTE, CLIENT_VERSION, Serialization } from './command.ts';
import { jsonText } from './text-bytes.ts';

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
export const HEAD_BYTES = 8;
/** Room for an opaque: any positive `int`, with spaces before it, which JSON allows there. */
export const OPAQUE_DIGITS = 10;
/** HMAC-SHA1 in Base64. */
const SIGNATURE_LENGTH = 28;
const VALUE_BYTES_MIN = 64;

/** A field that changes: its value of now, and the bytes around it that never change. */
export interface Variable {
  /** Raw, for the signature. */
  readonly prefix: Buffer;
  /** What stands before the changing part, as the header has it. */
  readonly lead: Buffer;
  value: Buffer;
  length: number;
  /** What `value` says, where it is a number. */
  number: number;
}

/** What of a template's requests never changes, laid out once. */
export interface TemplateLayout {
  readonly json: boolean;
  /** Head and header up to the first field that changes. */
  readonly fixed: Buffer;
  /** Behind the last one. */
  readonly tail: Buffer;
  readonly opaqueAt: number;
  readonly signatureAt: number;
  readonly variables: readonly Variable[];
  /** What is signed, in order: constant text, then the variable behind it (-1: none). */
  readonly signedTexts: readonly Buffer[];
  readonly signedVariables: Int32Array;
}

/** @throws RangeError without a constant field */
export function layOut(options: RequestTemplateOptions): TemplateLayout {
  const json = (options.serialization ?? Serialization.json) === Serialization.json;
  const constants = constantFields(options);
  if (Object.keys(constants).length === 0) throw new RangeError('a template without constants');
  const order = signedOrder(options.variables, constants);
  return {
    json,
    ...(json ? jsonLayout(options, constants) : binaryLayout(options, constants)),
    variables: options.variables.map((variable) => newVariable(variable, json)),
    signedTexts: order.texts,
    signedVariables: order.variables,
  };
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

type HeaderLayout = Pick<TemplateLayout, 'fixed' | 'tail' | 'opaqueAt' | 'signatureAt'>;
type Fields = Readonly<Record<string, string>>;

function jsonLayout(options: RequestTemplateOptions, constants: Fields): HeaderLayout {
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
export const BINARY_MAP_LENGTH_AT = HEAD_BYTES + 17;
export const BINARY_MAP_AT = BINARY_MAP_LENGTH_AT + 4;

function binaryLayout(options: RequestTemplateOptions, constants: Fields): HeaderLayout {
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
    tail: Buffer.alloc(0),
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
