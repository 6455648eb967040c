/** A topic, with its length prefix, is at most this long on the wire [MQTT-1.5.3]. */
const TOPIC_BYTES_MAX = 65_535;
const HASH = 0x23;
const PLUS = 0x2b;

/**
 * Many topics in one piece of memory, each as it goes on the wire (two bytes of length, UTF-8). A
 * worker with 100,000 clients of their own topics holds no object a topic.
 */
export class TopicTable {
  #bytes = Buffer.alloc(1024);
  #used = 0;
  #starts = new Uint32Array(64);
  #count = 0;
  #isVolatile = false;

  /**
   * Adds a topic and gives its index (from 0, in the order of the calls).
   * Throws a RangeError for a topic that may not be published to: empty, longer than 65,535 bytes,
   * with a wildcard or NUL [MQTT-4.7.3-1, 3.3.2-2, 4.7.3-2].
   */
  add(topic: string): number {
    const length = Buffer.byteLength(topic);
    if (length === 0) throw new RangeError('a topic is not empty [MQTT-4.7.3-1]');
    if (length > TOPIC_BYTES_MAX) {
      throw new RangeError(`a topic has at most ${TOPIC_BYTES_MAX} bytes, this one ${length}`);
    }
    if (/[#+\0]/.test(topic)) {
      throw new RangeError(`a topic holds no "#", "+" or NUL [MQTT-3.3.2-2]: "${topic}"`);
    }
    this.#reserve(length + 2);
    const index = this.#count;
    this.#starts[index] = this.#used;
    this.#bytes.writeUInt16BE(length, this.#used);
    this.#bytes.write(topic, this.#used + 2);
    this.#used += length + 2;
    this.#count += 1;
    this.#starts[this.#count] = this.#used;
    return index;
  }

  /** Replaces nothing and keeps the memory: the next `add` gives index 0. For per-message topics. */
  clear(): void {
    this.#used = 0;
    this.#count = 0;
    this.#isVolatile = true;
  }

  /**
   * Makes `bytes[at … at + length)` the only topic, as `clear` and `add` do, without a text on the
   * way. False, and nothing is changed, where it may not be published to.
   */
  replace(bytes: Uint8Array, at: number, length: number): boolean {
    if (length === 0 || length > TOPIC_BYTES_MAX) return false;
    for (let k = at; k < at + length; k += 1) {
      const byte = bytes[k];
      if (byte === undefined || byte === HASH || byte === PLUS || byte === 0) return false;
    }
    this.clear();
    this.#reserve(length + 2);
    this.#bytes.writeUInt16BE(length, 0);
    for (let k = 0; k < length; k += 1) this.#bytes[k + 2] = bytes[at + k] ?? 0;
    this.#used = length + 2;
    this.#count = 1;
    this.#starts[1] = this.#used;
    return true;
  }

  /** Whether an index may stand for another topic later: it was cleared before. */
  get isVolatile(): boolean {
    return this.#isVolatile;
  }

  /** Topic `index` as text. */
  text(index: number): string {
    // Two bytes of length stand before each topic.
    return this.#bytes.toString('utf8', this.startOf(index) + 2, this.startOf(index + 1));
  }

  get count(): number {
    return this.#count;
  }

  /** The packed topics. Changes identity when `add` needs more room. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Where topic `index` with its length prefix starts in `bytes`; `startOf(index + 1)` is its end. */
  startOf(index: number): number {
    const start = this.#starts[index];
    if (start === undefined) throw new RangeError(`no topic ${index}`);
    return start;
  }

  #reserve(more: number): void {
    if (this.#used + more > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#used + more));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    // One more than topics: the last entry is the end of the last topic.
    if (this.#count + 2 > this.#starts.length) {
      const larger = new Uint32Array(this.#starts.length * 2);
      larger.set(this.#starts);
      this.#starts = larger;
    }
  }
}
