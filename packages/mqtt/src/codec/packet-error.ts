/**
 * A received packet that breaks the specification. `reasonCode` is what MQTT 5 answers with:
 * 0x81 malformed packet, 0x82 protocol error, 0x84 unsupported protocol version. The message comes
 * from a fixed set and names the clause.
 */
export class PacketError extends Error {
  readonly code: 'malformed_packet' | 'protocol_error' | 'unsupported_version';
  readonly reasonCode: 0x81 | 0x82 | 0x84;

  constructor(reasonCode: 0x81 | 0x82 | 0x84, message: string) {
    super(message);
    this.name = 'PacketError';
    this.reasonCode = reasonCode;
    this.code = CODES[reasonCode];
  }
}

const CODES = {
  0x81: 'malformed_packet',
  0x82: 'protocol_error',
  0x84: 'unsupported_version',
} as const;

export function malformed(why: string): PacketError {
  return new PacketError(0x81, why);
}

export function violation(why: string): PacketError {
  return new PacketError(0x82, why);
}
