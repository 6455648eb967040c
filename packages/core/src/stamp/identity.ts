import { crc32OfText } from './crc32.ts';

/** How a run is named in a stamp: CRC-32 of its id. Unsigned 32 bit. */
export function runHash(run: string): number {
  return crc32OfText(run);
}

/**
 * How a clock domain (boot id + time namespace) is named in a stamp: 16 bits of its CRC-32. Never 0,
 * which stands for an unknown domain.
 */
export function clockDomainHash(domain: string): number {
  const hash = crc32OfText(domain);
  return ((hash >>> 16) ^ hash) & 0xffff || 1;
}
