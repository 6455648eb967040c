import { Readable } from 'node:stream';
import type { EventLog, LoggedEvent } from '../service/event-log.ts';
import { MAX_STREAM_BACKLOG_BYTES, STREAM_COMMENT_MS } from './limits.ts';

/**
 * The events of a run as text [HTML, 9.2: server-sent events]: first what the reader missed, then what
 * happens, until the run is over. A reader that is too slow is cut off; it may come back and resume.
 */
export class EventStream extends Readable {
  readonly #stop: (() => void)[] = [];
  #over = false;

  /** `last`: the id of the last event that the reader has. */
  constructor(log: EventLog, last: string | null) {
    super();
    const { events, missed } = log.after(last);
    // Something goes out at once, so that the reader knows that it is connected.
    this.#write(': squall\n\n');
    if (missed) this.#write('event: missed\ndata: {}\n\n');
    for (const event of events) this.#write(textOf(event));
    if (log.ended) {
      this.end();
      return;
    }
    const comments = setInterval(() => this.#write(':\n\n'), STREAM_COMMENT_MS);
    this.#stop.push(
      () => clearInterval(comments),
      log.onEvent((event) => this.#write(textOf(event))),
      log.onEnd(() => this.end()),
    );
  }

  /** What was written is still delivered. */
  end(): void {
    if (this.#over) return;
    this.#release();
    this.push(null);
  }

  override _read(): void {
    // Everything is pushed as it happens.
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#release();
    callback(error);
  }

  #write(text: string): void {
    if (this.#over) return;
    this.push(text);
    if (this.readableLength > MAX_STREAM_BACKLOG_BYTES) this.destroy();
  }

  #release(): void {
    this.#over = true;
    for (const stop of this.#stop.splice(0)) stop();
  }
}

function textOf({ id, type, data }: LoggedEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}
