import type { ProtocolVersion } from '../../codec/protocol-version.ts';
import type { Wire } from './wire.ts';
import { Wire311 } from './wire-311.ts';
import { Wire5 } from './wire-5.ts';

/** The wire of one pool's clients. */
export function createWire(version: ProtocolVersion, slots: number): Wire {
  return version === '5' ? new Wire5(slots) : new Wire311(version);
}
