import { malformed } from '../packet-error.ts';
import type { Qos } from '../packet.ts';

/** Two bits as a QoS. Throws a `PacketError` for 3. */
export function qosOf(bits: number): Qos {
  if (bits === 0 || bits === 1 || bits === 2) return bits;
  throw malformed('QoS 3 [MQTT-3.3.1-4]');
}
