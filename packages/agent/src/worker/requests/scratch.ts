// Data path

/** Lengths that have memory of their own at the same time. */
const LENGTHS = 64;

/** Memory of wanted lengths, used again and again: an array of just the length, without a new one. */
export class Scratch {
  readonly #kept: (Uint8Array | undefined)[] = Array.from({ length: LENGTHS });

  of(length: number): Uint8Array {
    const known = this.#kept[length % LENGTHS];
    if (known !== undefined && known.length === length) return known;
    const made = new Uint8Array(length);
    this.#kept[length % LENGTHS] = made;
    return made;
  }
}
