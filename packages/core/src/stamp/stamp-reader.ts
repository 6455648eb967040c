// Data path
import { crc32 } from './crc32.ts';
import {
  CHECKSUM_AT,
  DOMAIN_AT,
  DUE,
  DUE_AT,
  MAGIC_AT,
  PUBLISHER_AT,
  readI32,
  readTime,
  readU16,
  readU8,
  RUN_AT,
  SENT,
  SENT_AT,
  SEQ_AT,
  STAGE_AT,
  STAMP_BYTES,
  STAMP_MAGIC,
  STAMP_VERSION,
  SUBJECT_AT,
  VERSION_AT,
} from './layout.ts';
import { findTextStamp, readTextStamp, TEXT_STAMP_BYTES } from './text-stamp.ts';

/** The payload carries a stamp, and its checksum fits. */
export const STAMP_OK = 0;
/** Not a stamp of this version: too short, or other first bytes. Somebody else's message. */
export const STAMP_NONE = 1;
/** A stamp whose checksum does not fit it and the payload behind it. */
export const STAMP_CORRUPT = 2;

const RUN = 0;
const PUBLISHER = 1;
const SEQ = 2;

/** How far into a payload a stamp in text form is looked for: bytes of an unstamped one cost time, too. */
const TEXT_SEARCH_BYTES = 65_536;

/**
 * Reads stamps, one at a time, into its own fields; nothing is allocated. The fields hold the last
 * stamp that was read with `STAMP_OK`, or what the last `claim` found.
 */
export class StampReader {
  stage = 0;
  subject = 0;
  clockDomain = 0;
  /** `[DUE]` and `[SENT]`: raw µs of the sender's monotonic clock. */
  readonly timesUs = new Float64Array(2);
  /** Unsigned words: kept in an array, because half of their values do not fit a small integer. */
  readonly #words = new Uint32Array(3);
  /** A stamp that came as text. */
  readonly #decoded = new Uint8Array(STAMP_BYTES);
  /** Whether what `read` saw last holds a stamp in text form. */
  #wasText = false;
  readonly #seeksText: boolean;

  /**
   * @param options.seeksText whether payloads without a stamp at their beginning are looked through for
   * one in text form, which costs about a nanosecond a byte; true by default.
   */
  constructor({ seeksText = true }: { readonly seeksText?: boolean } = {}) {
    this.#seeksText = seeksText;
  }

  get runHash(): number {
    return this.#words[RUN] ?? 0;
  }

  get publisher(): number {
    return this.#words[PUBLISHER] ?? 0;
  }

  get seq(): number {
    return this.#words[SEQ] ?? 0;
  }

  /**
   * Reads the stamp of the payload `bytes[at … at + length)`: at its beginning as bytes, or anywhere in
   * its first 64 KiB as text. Never throws.
   */
  read(bytes: Uint8Array, at: number, length: number): number {
    this.#wasText = false;
    if (length < STAMP_BYTES) return STAMP_NONE;
    if (
      readU16(bytes, at + MAGIC_AT) !== STAMP_MAGIC ||
      readU8(bytes, at + VERSION_AT) !== STAMP_VERSION
    ) {
      return this.#seeksText ? this.#readText(bytes, at, length) : STAMP_NONE;
    }
    const own = crc32(bytes, at, at + CHECKSUM_AT);
    const rest = crc32(bytes, at + STAMP_BYTES, at + length);
    if ((own ^ rest) !== readI32(bytes, at + CHECKSUM_AT)) return STAMP_CORRUPT;
    this.#take(bytes, at);
    return STAMP_OK;
  }

  /**
   * Reads what a damaged stamp says of itself, unchecked; false where there is no place for one. It
   * tells a corrupted message of this run from somebody else's, and most often whose it was.
   */
  claim(bytes: Uint8Array, at: number, length: number): boolean {
    if (length < STAMP_BYTES) return false;
    if (this.#wasText) this.#take(this.#decoded, 0);
    else this.#take(bytes, at);
    return true;
  }

  #readText(bytes: Uint8Array, at: number, length: number): number {
    const end = at + length;
    const from = findTextStamp(bytes, at, Math.min(end, at + TEXT_SEARCH_BYTES));
    if (from < 0) return STAMP_NONE;
    this.#wasText = true;
    const decoded = this.#decoded;
    const whole = readTextStamp(bytes, from, decoded);
    const rest = crc32(bytes, at, from) ^ crc32(bytes, from + TEXT_STAMP_BYTES, end);
    const own = crc32(decoded, 0, CHECKSUM_AT);
    if (!whole || (own ^ rest) !== readI32(decoded, CHECKSUM_AT)) return STAMP_CORRUPT;
    this.#take(decoded, 0);
    return STAMP_OK;
  }

  #take(bytes: Uint8Array, at: number): void {
    this.stage = readU8(bytes, at + STAGE_AT);
    this.subject = readU16(bytes, at + SUBJECT_AT);
    this.clockDomain = readU16(bytes, at + DOMAIN_AT);
    this.#words[RUN] = readI32(bytes, at + RUN_AT);
    this.#words[PUBLISHER] = readI32(bytes, at + PUBLISHER_AT);
    this.#words[SEQ] = readI32(bytes, at + SEQ_AT);
    this.timesUs[DUE] = readTime(bytes, at + DUE_AT);
    this.timesUs[SENT] = readTime(bytes, at + SENT_AT);
  }
}
