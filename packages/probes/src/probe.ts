import type { FigureInfo } from '@squall/core/probes';

/**
 * What every probe is: something outside the load generator that can be asked for a few numbers.
 *
 * A probe only reads, and only when it is asked: when, how long at most, how often again and what a
 * failure means is the keeper's (`keeper.ts`), so that each probe stays a few lines over the server
 * that it reads.
 */
export interface Probe {
  /**
   * Reads once. It is called again only after it settled.
   *
   * @param signal aborted when the reading took too long or the run is over; the probe then lets go of
   *   whatever it holds (a query, a request).
   * @throws ProbeError whose reason is short and the same for the same cause: failures are counted by it
   */
  read(signal: AbortSignal): Promise<Reading>;
  /** Gives back connections. Called once, after the last reading settled. */
  close(): Promise<void>;
}

/** Every figure that the server told this time, by name (`cpu_user`, `requests`). */
export type Reading = ReadonlyMap<string, Figure>;

/** A finite value: shares from 0 to 1, times in seconds, sizes in bytes. */
export type Figure = FigureInfo & { readonly value: number };

/** A reading that failed, by a reason that is counted: `connection refused`, `HTTP 401`, `timed out`. */
export class ProbeError extends Error {
  override readonly name = 'ProbeError';
  readonly reason: string;

  /**
   * @param reason stable and short, without addresses, numbers that change, or secrets
   * @param detail what an operator needs beside it, without secrets
   */
  constructor(reason: string, detail?: string, cause?: unknown) {
    super(detail === undefined ? reason : `${reason}: ${detail}`, { cause });
    this.reason = reason;
  }
}
