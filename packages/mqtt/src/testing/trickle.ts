/** Bytes that may wait to trickle: a plan that has more is wrong. */
const MAX_WAITING_BYTES = 1 << 20;

/** Passes bytes on in their order: at once, or one by one once it was told to. */
export class Trickle {
  readonly #pass: (bytes: Buffer) => void;
  #waiting: Buffer = Buffer.alloc(0);
  /** How many of the waiting bytes go out one by one; what is behind them goes out at once. */
  #slow = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass;
  }

  send(bytes: Buffer): void {
    if (this.#timer === null) this.#pass(bytes);
    else this.#keep(bytes);
  }

  sendSlowly(bytes: Buffer, everyMs: number): void {
    this.#slow = this.#waiting.length + bytes.length;
    this.#keep(bytes);
    this.#timer ??= setInterval(() => this.#next(), everyMs);
  }

  drop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#waiting = Buffer.alloc(0);
  }

  #keep(bytes: Buffer): void {
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    if (this.#waiting.length > MAX_WAITING_BYTES) throw new Error('too many bytes to trickle');
  }

  #next(): void {
    const length = this.#slow > 0 ? 1 : this.#waiting.length;
    const bytes = this.#waiting.subarray(0, length);
    this.#waiting = this.#waiting.subarray(length);
    this.#slow = Math.max(0, this.#slow - 1);
    if (bytes.length > 0) this.#pass(bytes);
    if (this.#waiting.length === 0) this.drop();
  }
}
