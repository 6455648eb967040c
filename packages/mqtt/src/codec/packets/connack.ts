import type { ByteReader } from '../byte-reader.ts';
import { ByteWriter } from '../byte-writer.ts';
import { malformed, violation } from '../packet-error.ts';
import type { ConnackPacket } from '../packet.ts';
import { readProperties } from '../properties/read-properties.ts';
import { writeProperties } from '../properties/write-properties.ts';
import type { ProtocolVersion } from '../protocol-version.ts';
import { isReasonCodeOf } from '../reason-code.ts';

/** The highest return code before MQTT 5 [MQTT-3.2.2.3]. */
const RETURN_CODE_MAX = 5;

export function encodeConnack(packet: ConnackPacket, version: ProtocolVersion): Buffer {
  const to = new ByteWriter();
  to.uint8('acknowledge flags', packet.sessionPresent && version !== '3.1' ? 1 : 0);
  to.uint8('reason code', packet.reasonCode);
  if (version === '5') writeProperties(to, 'connack', packet.properties ?? {});
  return to.packet('connack', 0);
}

export function decodeConnack(from: ByteReader, version: ProtocolVersion): ConnackPacket {
  const flags = from.uint8();
  const reasonCode = from.uint8();
  const properties = version === '5' ? readProperties(from, 'connack') : undefined;
  if (flags > 1 && version !== '3.1') {
    throw malformed('CONNACK with reserved acknowledge flags set [MQTT-3.2.2.1]');
  }
  const known =
    version === '5' ? isReasonCodeOf('connack', reasonCode) : reasonCode <= RETURN_CODE_MAX;
  if (!known) throw violation('CONNACK with a reserved return code [MQTT-3.2.2.3]');
  const sessionPresent = flags === 1 && version !== '3.1';
  if (sessionPresent && reasonCode !== 0) {
    throw violation('CONNACK that refuses a present session [MQTT-3.2.2-4]');
  }
  return {
    type: 'connack',
    sessionPresent,
    reasonCode,
    ...(properties !== undefined && { properties }),
  };
}
