import type { RunHandle } from '@squall/controller';
import type { MetricName, Slice } from '@squall/core/metrics';
import { completeLine, type LineOptions, officialLine } from './official-lines.ts';
import { totalsOf, type ToolTotals } from './tool-totals.ts';

/** As theirs: a snapshot a second, ten of them, so that a line is about nine seconds. */
const SNAPSHOTS = 10;

export interface OfficialReportOptions extends LineOptions {
  readonly intervalMs: number;
  /** Whether a last line tells that a quantity is complete. */
  readonly completes: boolean;
  readonly print: (line: string) => void;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Writes the lines of their tool while a run goes on, from the run's own figures. */
export class OfficialReport {
  readonly #options: OfficialReportOptions;
  readonly #snapshots: ToolTotals[] = [];
  #maxUs = { roundTrip: 0, bornToReceived: 0, storedToReceived: 0 };
  #start: ToolTotals | null = null;
  #nextMs = 0;
  #listens = false;

  constructor(options: OfficialReportOptions) {
    this.#options = options;
  }

  watch(handle: RunHandle): void {
    handle.onEvent((event) => {
      // Connecting is no load: theirs begin to count with the first message, too.
      const isLoad = event.type === 'progress' && event.progress.phase === 'main';
      if (isLoad) this.#second(handle);
      else if (event.type === 'done' && this.#options.completes) this.#complete(handle);
    });
  }

  #second({ figures }: RunHandle): void {
    if (figures === null) return;
    const { kind, intervalMs, now } = this.#options;
    if (!this.#listens) {
      this.#listens = true;
      this.#nextMs = now() + intervalMs;
      figures.aggregate.onSlice((_agent, slice) => this.#keepMaxima(slice));
    }
    const totals = totalsOf(figures, kind);
    this.#start ??= totals;
    this.#snapshots.push(totals);
    if (this.#snapshots.length > SNAPSHOTS) this.#snapshots.shift();
    if (now() < this.#nextMs) return;
    this.#nextMs += intervalMs;
    if (this.#snapshots.length < SNAPSHOTS) return;
    const first = this.#snapshots[0] ?? totals;
    this.#print(officialLine, first, totals);
    // Theirs begin anew with each report, but for the plain and the batch producer's.
    if (kind === 'consumer' || kind === 'tproducer') this.#forgetMaxima();
  }

  #complete({ figures }: RunHandle): void {
    if (figures === null || this.#start === null) return;
    this.#print(completeLine, this.#start, totalsOf(figures, this.#options.kind));
  }

  #print(line: typeof officialLine, first: ToolTotals, last: ToolTotals): void {
    const figures = { first, last, now: new Date(this.#options.now()), maxUs: this.#maxUs };
    this.#options.print(line(this.#options, figures));
  }

  #keepMaxima(slice: Slice): void {
    for (const { metric, histogram } of slice.series) {
      const name = TIMES[metric];
      if (name === undefined || histogram === undefined) continue;
      this.#maxUs = { ...this.#maxUs, [name]: Math.max(this.#maxUs[name], histogram.maxUs) };
    }
  }

  #forgetMaxima(): void {
    this.#maxUs = { roundTrip: 0, bornToReceived: 0, storedToReceived: 0 };
  }
}

const TIMES: Readonly<
  Partial<Record<MetricName, 'roundTrip' | 'bornToReceived' | 'storedToReceived'>>
> = {
  service_time: 'roundTrip',
  born_time: 'bornToReceived',
  stored_time: 'storedToReceived',
};
