// Data path
import { crc32 } from './crc32.ts';
import {
  CHECKSUM_AT,
  DOMAIN_AT,
  DUE,
  DUE_AT,
  MAGIC_AT,
  PUBLISHER_AT,
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
  writeTime,
  writeU16,
  writeU32,
} from './layout.ts';

export interface StampConstants {
  /** `runHash(run)`. */
  readonly runHash: number;
  /** Index of the publish stream among all streams of the plan, 0…65,535. */
  readonly subject: number;
  /** `clockDomainHash(domain)`, 0…65,535. */
  readonly clockDomain: number;
}

/**
 * Writes stamps of one publish stream. Set the fields, then call `write` once for each template
 * buffer and `patch` for each message; neither allocates.
 *
 * `restChecksum` is `crc32` of the payload behind the stamp. It is computed when the template is
 * made, so a message costs a checksum over the stamp only.
 */
export class StampWriter {
  /** 0…255. */
  stage = 0;
  /** Client index in its group, from 0. */
  publisher = 0;
  /** Number of the message of this client and stream in this stage, from 0. */
  seq = 0;
  /** Signed CRC-32 of the payload behind the stamp; 0 where nothing is behind it. */
  restChecksum = 0;
  /**
   * `[DUE]` and `[SENT]`: raw µs of the host's monotonic clock. An array, not two fields, so that
   * setting them never boxes a double.
   */
  readonly timesUs = new Float64Array(2);
  readonly #constants: StampConstants;

  constructor(constants: StampConstants) {
    this.#constants = constants;
  }

  /** Writes the whole stamp at `at`. */
  write(bytes: Uint8Array, at: number): void {
    writeU16(bytes, at + MAGIC_AT, STAMP_MAGIC);
    bytes[at + VERSION_AT] = STAMP_VERSION;
    writeU32(bytes, at + RUN_AT, this.#constants.runHash);
    writeU16(bytes, at + SUBJECT_AT, this.#constants.subject);
    writeU32(bytes, at + PUBLISHER_AT, this.publisher);
    writeU16(bytes, at + DOMAIN_AT, this.#constants.clockDomain);
    this.patch(bytes, at);
  }

  /** Writes what changes from message to message into a stamp that `write` made: stage, seq, times. */
  patch(bytes: Uint8Array, at: number): void {
    bytes[at + STAGE_AT] = this.stage;
    writeU32(bytes, at + SEQ_AT, this.seq);
    writeTime(bytes, at + DUE_AT, this.timesUs[DUE] ?? 0);
    writeTime(bytes, at + SENT_AT, this.timesUs[SENT] ?? 0);
    writeU32(bytes, at + CHECKSUM_AT, crc32(bytes, at, at + CHECKSUM_AT) ^ this.restChecksum);
  }

  /** Sets `restChecksum` from a template whose stamp is at `at` and whose payload ends at `end`. */
  takeRest(bytes: Uint8Array, at: number, end: number): void {
    this.restChecksum = crc32(bytes, at + STAMP_BYTES, end);
  }
}
