import { byteAt } from '../bytes.ts';
import type { PacketView } from '../packet-framer.ts';
import { PacketType } from '../packet-type.ts';
import { remainingLengthSize, writeRemainingLength } from '../remaining-length.ts';
import { fieldSize, writeField } from './text-field.ts';

/** Protocol name "MQTT" and level 4 [MQTT-3.1.2-1, 3.1.2-2]. */
const PROTOCOL = Buffer.from([0, 4, 0x4d, 0x51, 0x54, 0x54, 4]);

export interface ConnectFields {
  readonly clientId: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly keepAliveS: number;
  readonly cleanStart: boolean;
}

/**
 * A CONNECT packet [MQTT-3.1]. Throws a RangeError for fields that no CONNECT can carry: text of
 * more than 65,535 bytes or with NUL, a password without user name, an empty client id without
 * clean start, a keep-alive that is no whole number of 0–65,535 s.
 */
export function encodeConnect(fields: ConnectFields): Buffer {
  const { clientId, username, password, keepAliveS, cleanStart } = fields;
  checkConnect(fields);
  let body = PROTOCOL.length + 3 + fieldSize('client id', clientId);
  let flags = cleanStart ? 0x02 : 0;
  if (username !== undefined) {
    flags |= 0x80;
    body += fieldSize('user name', username);
  }
  if (password !== undefined) {
    flags |= 0x40;
    body += fieldSize('password', password);
  }
  const bytes = Buffer.alloc(1 + remainingLengthSize(body) + body);
  bytes[0] = PacketType.connect << 4;
  let at = writeRemainingLength(bytes, 1, body);
  bytes.set(PROTOCOL, at);
  at += PROTOCOL.length;
  bytes[at] = flags;
  bytes.writeUInt16BE(keepAliveS, at + 1);
  at = writeField(bytes, at + 3, clientId);
  if (username !== undefined) at = writeField(bytes, at, username);
  if (password !== undefined) writeField(bytes, at, password);
  return bytes;
}

function checkConnect({ clientId, username, password, keepAliveS, cleanStart }: ConnectFields) {
  if (!Number.isInteger(keepAliveS) || keepAliveS < 0 || keepAliveS > 65_535) {
    throw new RangeError(`keep-alive is 0 to 65,535 whole seconds, not ${keepAliveS}`);
  }
  if (clientId === '' && !cleanStart) {
    throw new RangeError('an empty client id needs a clean start [MQTT-3.1.3-7]');
  }
  if (password !== undefined && username === undefined) {
    throw new RangeError('a password needs a user name [MQTT-3.1.2-22]');
  }
}

/** What a CONNACK says; `code` 0 = accepted. */
export interface ConnackFields {
  sessionPresent: boolean;
  code: number;
}

/** Fills `out` from a CONNACK [MQTT-3.2] and gives null, or what is wrong with it. */
export function readConnack(packet: PacketView, out: ConnackFields): string | null {
  if ((packet.header & 0x0f) !== 0) return 'CONNACK with reserved flags set [MQTT-2.2.2-2]';
  if (packet.end - packet.at !== 2) return 'CONNACK that is not 2 bytes long [MQTT-3.2.1]';
  const flags = byteAt(packet.bytes, packet.at);
  const code = byteAt(packet.bytes, packet.at + 1);
  if (flags > 1) return 'CONNACK with reserved acknowledge flags set [MQTT-3.2.2.1]';
  if (code !== 0 && flags !== 0) return 'CONNACK that refuses a present session [MQTT-3.2.2-4]';
  if (code > 5) return 'CONNACK with a reserved return code [MQTT-3.2.2.3]';
  out.sessionPresent = flags === 1;
  out.code = code;
  return null;
}
