import type { RemotingCommand } from './command.ts';
import { type JsonObject, type JsonValue, parseLenientJson } from './lenient-json.ts';
import { RocketmqError } from './rocketmq-error.ts';

/** A command without its body. */
export type CommandHead = Omit<RemotingCommand, 'body'>;

export function encodeJsonHeader(command: CommandHead): Buffer {
  const { code, language, version, opaque, flag, remark, ext } = command;
  return Buffer.from(
    JSON.stringify({
      code,
      language,
      version,
      opaque,
      flag,
      ...(remark === null ? {} : { remark }),
      extFields: ext,
    }),
  );
}

/** @throws RocketmqError HEADER */
export function decodeJsonHeader(bytes: Buffer): CommandHead {
  const header = readObject(bytes.toString('utf8'));
  return {
    code: integer(header, 'code'),
    opaque: integer(header, 'opaque'),
    flag: integer(header, 'flag'),
    version: integer(header, 'version'),
    language: typeof header['language'] === 'string' ? header['language'] : '',
    remark: typeof header['remark'] === 'string' ? header['remark'] : null,
    ext: extFields(header['extFields'] ?? null),
  };
}

function readObject(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseLenientJson(text);
  } catch (cause) {
    throw new RocketmqError('HEADER', 'a header that is no JSON', { cause });
  }
  if (isObject(value)) return value;
  throw new RocketmqError('HEADER', 'a header that is no JSON object');
}

/** Absent numbers are 0, as brokers read them. */
function integer(header: JsonObject, name: string): number {
  const value = header[name] ?? 0;
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new RocketmqError('HEADER', `${name} is no whole number`);
}

function extFields(value: JsonValue): Record<string, string> {
  const ext: Record<string, string> = Object.create(null);
  if (value === null) return ext;
  if (!isObject(value)) throw new RocketmqError('HEADER', 'extFields is no object');
  for (const [name, field] of Object.entries(value)) {
    if (field !== null) ext[name] = typeof field === 'string' ? field : JSON.stringify(field);
  }
  return ext;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
