import type { ByteReader } from '../byte-reader.ts';
import type { ByteWriter } from '../byte-writer.ts';
import { violation } from '../packet-error.ts';

/** Throws a RangeError for what is no packet id [MQTT-2.2.1-3]. */
export function writePacketId(to: ByteWriter, packetId: number): void {
  if (!Number.isInteger(packetId) || packetId < 1 || packetId > 65_535) {
    throw new RangeError(`a packet id is 1 to 65,535, not ${packetId} [MQTT-2.3.1-1]`);
  }
  to.uint16('packet id', packetId);
}

/** Throws a `PacketError` for 0. */
export function readPacketId(from: ByteReader): number {
  const packetId = from.uint16();
  if (packetId === 0) throw violation('packet id 0 [MQTT-2.3.1-1]');
  return packetId;
}
