import { PacketFramer, type PacketView } from '../../src/codec/packet-framer.ts';

/** Everything a framer says about one connection, copied out of its reused view. */
export interface FramerLog {
  readonly packets: { header: number; body: string }[];
  malformed: string | null;
}

/** Feeds the chunks to a fresh framer as one connection, as a pool would: all in one buffer. */
export function frame(chunks: readonly Buffer[], maxPacketBytes = 1024 * 1024): FramerLog {
  const log: FramerLog = { packets: [], malformed: null };
  const framer = new PacketFramer(
    {
      packet: (_slot: number, packet: PacketView) => {
        const body = packet.bytes.toString('hex', packet.at, packet.end);
        log.packets.push({ header: packet.header, body });
        return true;
      },
      begins: () => true,
      malformed: (_slot: number, why: string) => {
        log.malformed ??= why;
      },
    },
    maxPacketBytes,
  );
  const buffer = Buffer.alloc(64 * 1024);
  for (const chunk of chunks) {
    if (log.malformed !== null) break;
    chunk.copy(buffer);
    framer.feed(0, buffer, chunk.length);
    // What is overwritten afterwards must not matter any more.
    buffer.fill(0xee);
  }
  return log;
}

/** Cuts `bytes` at the given places. */
export function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((p) => p % (bytes.length + 1)))].toSorted((a, b) => a - b);
  const bounds = [0, ...sorted, bytes.length];
  return bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end));
}
