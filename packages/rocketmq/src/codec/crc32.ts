import * as zlib from 'node:zlib';

/** Node 20.15 brought a native one; before, a table serves. */
const native: ((bytes: Uint8Array) => number) | undefined = Reflect.get(zlib, 'crc32');

/**
 * CRC-32 (IEEE 802.3) of stored body bytes as brokers keep it: without its highest bit, so that it is
 * a positive Java `int`.
 */
export const bodyCrc: (bytes: Uint8Array) => number =
  typeof native === 'function' ? (bytes) => native(bytes) & 0x7fff_ffff : tableCrc;

/** The same by table; exported as the oracle of the native one. */
export function tableCrc(bytes: Uint8Array): number {
  const table = crcTable();
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return ~crc & 0x7fff_ffff;
}

let kept: Int32Array | null = null;

function crcTable(): Int32Array {
  if (kept !== null) return kept;
  kept = new Int32Array(256);
  for (let n = 0; n < 256; n += 1) {
    let value = n;
    for (let bit = 0; bit < 8; bit += 1)
      value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
    kept[n] = value;
  }
  return kept;
}
