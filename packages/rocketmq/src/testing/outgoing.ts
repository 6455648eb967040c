import type { Socket } from 'node:net';

interface Piece {
  readonly bytes: Buffer;
  readonly afterMs: number;
}

/** What a server writes to one connection, in order, some of it slowly. */
export class Outgoing {
  readonly #socket: Socket;
  readonly #waiting: Piece[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #held: Buffer[] = [];
  #writing = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('close', () => {
      for (const timer of this.#timers) clearTimeout(timer);
      this.#waiting.length = 0;
    });
  }

  /** What was held goes out behind it. */
  send(bytes: Buffer): void {
    this.#push({ bytes, afterMs: 0 });
    const held = this.#held;
    this.#held = [];
    for (const each of held) this.#push({ bytes: each, afterMs: 0 });
  }

  sendInPieces(bytes: Buffer, size: number): void {
    for (let at = 0; at < bytes.length; at += size) {
      this.#push({ bytes: bytes.subarray(at, at + size), afterMs: at === 0 ? 0 : 1 });
    }
  }

  sendLater(bytes: Buffer, ms: number): void {
    this.#after(ms, () => this.send(bytes));
  }

  /** Goes out behind the next answer. */
  hold(bytes: Buffer): void {
    this.#held.push(bytes);
  }

  /** Ends the connection behind these bytes, or at once where there are none. */
  end(bytes: Buffer): void {
    if (bytes.length === 0) this.#socket.destroy();
    else this.#socket.end(bytes);
  }

  #push(piece: Piece): void {
    this.#waiting.push(piece);
    if (!this.#writing) this.#write();
  }

  #write(): void {
    this.#writing = false;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const { bytes, afterMs } = next;
      this.#waiting.shift();
      if (afterMs === 0) {
        this.#put(bytes);
        continue;
      }
      this.#writing = true;
      this.#after(afterMs, () => {
        this.#put(bytes);
        this.#write();
      });
      return;
    }
  }

  #put(bytes: Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  #after(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }
}
