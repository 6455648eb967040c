import { MAX_EVENTS } from './limits.ts';

export interface LoggedEvent {
  /** Unique in the run, also over a restart of the controller. */
  readonly id: string;
  readonly type: string;
  /** JSON text on one line. */
  readonly data: string;
}

export interface EventPage {
  readonly events: readonly LoggedEvent[];
  /** Whether there were others before them that cannot be told any more. */
  readonly missed: boolean;
}

/**
 * What a run told, for those who come later or come back: the newest events in the order in which they
 * happened, in bounded memory.
 */
export class EventLog {
  readonly #life: string;
  readonly #limit: number;
  readonly #listeners = new Set<(event: LoggedEvent) => void>();
  readonly #endListeners = new Set<() => void>();
  #events: LoggedEvent[] = [];
  /** Number of the next event; the oldest one that is kept has this less the number kept. */
  #next = 1;
  #ended = false;

  /** `life`: names this log among those that other processes kept of the same run. */
  constructor(life: string, limit = MAX_EVENTS) {
    this.#life = life;
    this.#limit = limit;
  }

  get ended(): boolean {
    return this.#ended;
  }

  append(type: string, data: unknown): void {
    const event = { id: `${this.#life}-${this.#next++}`, type, data: JSON.stringify(data) };
    this.#events.push(event);
    // Dropped in larger parts, so that an append costs little.
    if (this.#events.length >= this.#limit * 2) this.#events = this.#events.slice(-this.#limit);
    for (const listener of this.#listeners) listener(event);
  }

  /** Nothing more will happen. */
  end(): void {
    this.#ended = true;
    for (const listener of this.#endListeners) listener();
  }

  /** What came after the event with this id; null: from the beginning. */
  after(id: string | null): EventPage {
    const oldest = this.#next - this.#events.length;
    const [life, text] = id?.split('-') ?? [];
    const known = life === this.#life && /^\d{1,15}$/.test(text ?? '');
    const from = known ? Math.min(Number(text) + 1, this.#next) : 1;
    // Of another life nobody knows how much of it was missed.
    const missed = from < oldest || (id !== null && !known);
    return { events: this.#events.slice(Math.max(from, oldest) - oldest), missed };
  }

  /** Whether this is the id of the last event there will be. */
  isOver(id: string | null): boolean {
    return this.#ended && id === `${this.#life}-${this.#next - 1}`;
  }

  onEvent(listener: (event: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onEnd(listener: () => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }
}
