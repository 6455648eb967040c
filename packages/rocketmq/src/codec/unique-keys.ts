// Data path: one key a message.
import { randomBytes } from 'node:crypto';

/** Hex digits of a key: 20 of the process, 12 of a counter. Only length and uniqueness matter. */
export const UNIQUE_KEY_LENGTH = 32;
const PREFIX_LENGTH = 20;
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

/** Message ids made by the client (property UNIQ_KEY), in a form that costs a few byte writes. */
export class UniqueKeys {
  readonly #prefix: Buffer;
  #high = 0;
  #low = 0;

  /** `prefix`: 20 upper-case hex digits of its own for every maker of keys; drawn if not given. */
  constructor(
    prefix: string = randomBytes(PREFIX_LENGTH / 2)
      .toString('hex')
      .toUpperCase(),
  ) {
    this.#prefix = Buffer.from(prefix, 'latin1');
  }

  /** Writes the next key, 32 bytes. */
  writeNext(target: Buffer, at: number): void {
    this.#low += 1;
    if (this.#low === 0x100_0000) {
      this.#low = 0;
      this.#high += 1;
    }
    this.#prefix.copy(target, at);
    writeHex24(target, at + PREFIX_LENGTH, this.#high);
    writeHex24(target, at + PREFIX_LENGTH + 6, this.#low);
  }
}

function writeHex24(target: Buffer, at: number, value: number): void {
  for (let i = 0; i < 6; i += 1) target[at + i] = HEX[(value >>> (20 - 4 * i)) & 0xf] ?? 0;
}
