import { byteAt, int32At, uint16At } from './bytes.ts';
import { CLIENT_LANGUAGE_BYTE } from './command.ts';
import type { CommandHead } from './json-header.ts';
import { RocketmqError } from './rocketmq-error.ts';

/** By language byte. */
const LANGUAGES: readonly string[] =
  'JAVA CPP DOTNET PYTHON DELPHI ERLANG RUBY OTHER HTTP GO PHP OMS RUST NODE_JS'.split(' ');

/** Code, language, version, opaque, flag, remark length and map length. */
const FIXED_BYTES = 21;
/** The code has 16 bits here: larger ones (POP and its kin) cannot be said. */
const CODE_MAX = 0x7fff;

/**
 * Empty values are left out: from 4.9.4 on brokers read them as null, and sign the word "null".
 *
 * @throws RocketmqError ARGUMENT where the code does not fit
 */
export function encodeBinaryHeader(command: CommandHead): Buffer {
  if (command.code > CODE_MAX) {
    throw new RocketmqError('ARGUMENT', `request code ${command.code} needs a JSON header`);
  }
  const remark = Buffer.from(command.remark ?? '');
  const entries = Object.entries(command.ext)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => entry(Buffer.from(name), Buffer.from(value)));
  const map = Buffer.concat(entries);
  const head = Buffer.alloc(FIXED_BYTES - 4);
  head.writeInt16BE(command.code, 0);
  const language = LANGUAGES.indexOf(command.language);
  head.writeUInt8(language < 0 ? CLIENT_LANGUAGE_BYTE : language, 2);
  head.writeInt16BE(command.version, 3);
  head.writeInt32BE(command.opaque, 5);
  head.writeInt32BE(command.flag, 9);
  head.writeInt32BE(remark.length, 13);
  const mapLength = Buffer.alloc(4);
  mapLength.writeInt32BE(map.length, 0);
  return Buffer.concat([head, remark, mapLength, map]);
}

function entry(name: Buffer, value: Buffer): Buffer {
  const bytes = Buffer.alloc(6 + name.length + value.length);
  bytes.writeInt16BE(name.length, 0);
  name.copy(bytes, 2);
  bytes.writeInt32BE(value.length, 2 + name.length);
  value.copy(bytes, 6 + name.length);
  return bytes;
}

/** @throws RocketmqError HEADER */
export function decodeBinaryHeader(bytes: Buffer): CommandHead {
  if (bytes.length < FIXED_BYTES) throw bad('a binary header that is cut off');
  const remarkLength = int32At(bytes, 13);
  const mapAt = 21 + remarkLength;
  if (remarkLength < 0 || mapAt > bytes.length) throw bad('a remark beyond its header');
  const mapLength = int32At(bytes, mapAt - 4);
  if (mapLength < 0 || mapAt + mapLength > bytes.length) throw bad('a field map beyond its header');
  return {
    code: bytes.readInt16BE(0),
    language: LANGUAGES[byteAt(bytes, 2)] ?? '',
    version: bytes.readInt16BE(3),
    opaque: int32At(bytes, 5),
    flag: int32At(bytes, 9),
    remark: remarkLength === 0 ? null : bytes.toString('utf8', 17, 17 + remarkLength),
    ext: fieldMap(bytes.subarray(mapAt, mapAt + mapLength)),
  };
}

function fieldMap(map: Buffer): Record<string, string> {
  const ext: Record<string, string> = Object.create(null);
  for (let at = 0; at < map.length; ) {
    const valueAt = at + 6 + (at + 2 <= map.length ? uint16At(map, at) : 0);
    if (valueAt > map.length) throw bad('a field name beyond its map');
    const valueLength = int32At(map, valueAt - 4);
    if (valueLength < 0 || valueAt + valueLength > map.length) {
      throw bad('a field value beyond its map');
    }
    ext[map.toString('utf8', at + 2, valueAt - 4)] = map.toString(
      'utf8',
      valueAt,
      valueAt + valueLength,
    );
    at = valueAt + valueLength;
  }
  return ext;
}

function bad(what: string): RocketmqError {
  return new RocketmqError('HEADER', what);
}
