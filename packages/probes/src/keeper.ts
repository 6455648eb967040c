import { probeErrorOf } from './error-reason.ts';
import { type Probe, ProbeError, type Reading } from './probe.ts';

/** Tries of the reading before the load, from which counters count. */
export const FIRST_TRIES = 3;
const RETRY_US = 500_000;
/** How long a reading that was called off may take to let go. */
const LET_GO_US = 2_000_000;

export interface KeptProbe {
  readonly name: string;
  readonly probe: Probe;
  /** Null: read when it is asked for only. */
  readonly intervalUs: number | null;
  readonly timeoutUs: number;
}

/** Where time comes from. */
interface KeeperTime {
  /** Calls `action` once, not before `delayUs` from now; the returned function calls it off. */
  after(delayUs: number, action: () => void): () => void;
}

/** Who is told. Readings come as they end. */
export interface KeeperListener {
  reading(probe: string, figures: Reading): void;
  failed(probe: string, reason: string, detail: string): void;
  /** A reading was left out, since the one before had not ended. */
  skipped(probe: string): void;
}

export interface KeeperOptions {
  readonly probes: readonly KeptProbe[];
  readonly time: KeeperTime;
  readonly listener: KeeperListener;
}

interface Turn {
  readonly kept: KeptProbe;
  /** The reading under way, which tells whether it went well. */
  running: Promise<boolean> | null;
  stop: (() => void) | null;
}

/**
 * Reads each probe at its interval, one reading of it at a time, each within its time-out. A probe that
 * fails or hangs harms nobody but itself: what it did not say is counted.
 */
export class ProbeKeeper {
  readonly #options: KeeperOptions;
  readonly #turns: readonly Turn[];
  readonly #over = new AbortController();

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#turns = options.probes.map((kept) => ({ kept, running: null, stop: null }));
  }

  /** Reads every probe once before the load; those that fail are tried again a few times. */
  async first(): Promise<void> {
    await Promise.all(this.#turns.map((turn) => this.#first(turn)));
  }

  /** From now on those with an interval are read by themselves. */
  begin(): void {
    for (const turn of this.#turns) this.#arm(turn);
  }

  /** Reads anew, whatever is under way. `names`: which ones; all where left out. */
  async fresh(names?: ReadonlySet<string>): Promise<void> {
    const wanted = this.#turns.filter(({ kept }) => names === undefined || names.has(kept.name));
    await Promise.all(
      wanted.map(async (turn) => {
        await turn.running;
        await this.#read(turn);
      }),
    );
  }

  /** Calls off what is under way, and gives back all connections. */
  async close(): Promise<void> {
    for (const turn of this.#turns) turn.stop?.();
    this.#over.abort();
    await Promise.all(this.#turns.map(async ({ running }) => running));
    await Promise.allSettled(this.#turns.map(({ kept }) => kept.probe.close()));
  }

  async #first(turn: Turn): Promise<void> {
    for (let tries = 1; tries <= FIRST_TRIES; tries++) {
      if (this.#over.signal.aborted || (await this.#read(turn))) return;
      if (tries < FIRST_TRIES) await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#options.time.after(RETRY_US, resolve);
    });
  }

  #arm(turn: Turn): void {
    const { intervalUs, name } = turn.kept;
    if (intervalUs === null || this.#over.signal.aborted) return;
    turn.stop = this.#options.time.after(intervalUs, () => {
      this.#arm(turn);
      if (turn.running === null) void this.#read(turn);
      else this.#options.listener.skipped(name);
    });
  }

  /** Whether it went well. A reading under way is joined. */
  #read(turn: Turn): Promise<boolean> {
    turn.running ??= this.#readOnce(turn.kept).finally(() => {
      turn.running = null;
    });
    return turn.running;
  }

  async #readOnce({ name, probe, timeoutUs }: KeptProbe): Promise<boolean> {
    const { listener, time } = this.#options;
    const call = new AbortController();
    const stopTimer = time.after(timeoutUs, () => call.abort());
    const signal = AbortSignal.any([call.signal, this.#over.signal]);
    try {
      const figures = await this.#letGo(probe.read(signal), signal);
      listener.reading(name, figures);
      return true;
    } catch (error) {
      // What was called off with the run is nobody's failure.
      if (this.#over.signal.aborted) return false;
      const known = call.signal.aborted ? new ProbeError('timed out') : probeErrorOf(error);
      listener.failed(name, known.reason, known.message);
      return false;
    } finally {
      stopTimer();
    }
  }

  /** A probe that does not let go when it is called off is waited for no longer than that. */
  #letGo(reading: Promise<Reading>, signal: AbortSignal): Promise<Reading> {
    return new Promise((resolve, reject) => {
      reading.then(resolve, reject);
      signal.addEventListener(
        'abort',
        () => {
          this.#options.time.after(LET_GO_US, () => reject(new ProbeError('timed out')));
        },
        { once: true },
      );
    });
  }
}
