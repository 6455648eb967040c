import { Histogram, type Slice, type SparseHistogram } from '../metrics/index.ts';

const SECOND_US = 1_000_000;
/** `measurement.md` 9: lateness is looked at over windows of 10 s … */
const WINDOW_US = 10 * SECOND_US;
/** … and only what lasts counts: three in a row. */
export const WINDOWS_IN_A_ROW = 3;

/** What was picked up later than this is remembered with its moment, to explain failures by it. */
const LATE_US = 50_000;
/** What a late start delays shows in the acknowledgements until then. */
const AFTERMATH_US = SECOND_US;
/** Late times that are remembered of an agent: the worst. */
const MAX_LATE_TIMES = 100;

/** What the generator says about itself. */
export interface GeneratorFacts {
  readonly agents: ReadonlyMap<string, AgentLateness>;
}

export interface AgentLateness {
  /** Over the whole run, warm-up left out; null where nothing was due. */
  readonly p99Us: number | null;
  /**
   * The highest p99 that three windows of 10 s in a row all reached. In a run with fewer windows,
   * the highest that all of them reached: a short run is not healthy for being short.
   */
  readonly sustainedP99Us: number | null;
  /** The highest p99 of any window of 10 s; null where nothing was due. */
  readonly worstP99Us: number | null;
  /** Windows of 10 s in which something was due. */
  readonly windows: number;
  /** When it was late, the worst times of the run, in their order. */
  readonly late: readonly LateTime[];
}

/**
 * A time in which an agent was late: from the first due moment that it missed until what it delayed
 * was over, µs on the run's timeline.
 */
interface LateTime {
  readonly fromUs: number;
  readonly toUs: number;
  /** The longest that something waited to be picked up. */
  readonly byUs: number;
}

/** What is known of each agent, as plain data. */
export type GeneratorWatchState = readonly {
  readonly agent: string;
  readonly whole: SparseHistogram | null;
  readonly window: SparseHistogram | null;
  readonly windowIndex: number;
  readonly row: readonly number[];
  readonly windows: number;
  readonly sustainedUs: number | null;
  readonly worstUs: number | null;
  readonly late: readonly LateTime[];
}[];

interface Watched {
  readonly whole: Histogram;
  readonly window: Histogram;
  windowIndex: number;
  /** p99 of the last windows in a row, newest last. */
  row: number[];
  windows: number;
  sustainedUs: number | null;
  worstUs: number | null;
  late: LateTime[];
}

/**
 * Watches how late each agent picks up what is due: the generator judging itself. `toJSON` gives all
 * that it knows, and the constructor takes it back.
 */
export class GeneratorWatch {
  readonly #agents = new Map<string, Watched>();
  readonly #warmup: ReadonlySet<number>;

  /** @param warmup indexes of the stages that are left out of judgement. */
  constructor(warmup: Iterable<number> = [], state: GeneratorWatchState = []) {
    this.#warmup = new Set(warmup);
    for (const { agent, whole, window, row, late, ...plain } of state) {
      this.#agents.set(agent, {
        ...plain,
        whole: histogramOf(whole),
        window: histogramOf(window),
        row: [...row],
        late: [...late],
      });
    }
  }

  toJSON(): GeneratorWatchState {
    return [...this.#agents].map(([agent, watched]) => ({
      ...watched,
      agent,
      whole: watched.whole.toSparse(),
      window: watched.window.toSparse(),
    }));
  }

  /** Takes each slice of each agent once, in its order. */
  add(agent: string, slice: Slice): void {
    for (const series of slice.series) {
      if (series.metric !== 'lateness' || series.histogram === undefined) continue;
      if (this.#warmup.has(series.stage)) continue;
      const watched = this.#watched(agent);
      enterWindow(watched, Math.floor(slice.fromUs / WINDOW_US));
      watched.window.addSparse(series.histogram);
      watched.whole.addSparse(series.histogram);
      if (series.histogram.maxUs > LATE_US) rememberLate(watched, slice, series.histogram.maxUs);
    }
  }

  facts(): GeneratorFacts {
    const agents = new Map<string, AgentLateness>();
    for (const [agent, watched] of this.#agents) {
      closeWindow(watched);
      agents.set(agent, {
        p99Us: watched.whole.count === 0 ? null : watched.whole.percentileUs(99),
        sustainedP99Us: sustained(watched),
        worstP99Us: watched.worstUs,
        windows: watched.windows,
        late: watched.late,
      });
    }
    return { agents };
  }

  #watched(agent: string): Watched {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const watched: Watched = {
      whole: new Histogram(),
      window: new Histogram(),
      windowIndex: 0,
      row: [],
      windows: 0,
      sustainedUs: null,
      worstUs: null,
      late: [],
    };
    this.#agents.set(agent, watched);
    return watched;
  }
}

function histogramOf(sparse: SparseHistogram | null): Histogram {
  const histogram = new Histogram();
  if (sparse !== null) histogram.addSparse(sparse);
  return histogram;
}

function enterWindow(watched: Watched, index: number): void {
  if (index === watched.windowIndex) return;
  closeWindow(watched);
  watched.windowIndex = index;
}

/**
 * A window in which nothing was picked up does not end a row: a generator that hangs picks up
 * nothing at all.
 */
function closeWindow(watched: Watched): void {
  if (watched.window.count === 0) return;
  watched.windows++;
  const p99Us = watched.window.percentileUs(99);
  watched.worstUs = Math.max(watched.worstUs ?? 0, p99Us);
  watched.row = [...watched.row, p99Us].slice(-WINDOWS_IN_A_ROW);
  watched.window.reset();
  if (watched.row.length < WINDOWS_IN_A_ROW) return;
  watched.sustainedUs = Math.max(watched.sustainedUs ?? 0, Math.min(...watched.row));
}

function sustained(watched: Watched): number | null {
  if (watched.windows === 0) return null;
  return watched.windows < WINDOWS_IN_A_ROW ? Math.min(...watched.row) : watched.sustainedUs;
}

/** Times that touch are one. */
function rememberLate(watched: Watched, { fromUs, toUs }: Slice, byUs: number): void {
  const time = { fromUs: fromUs - byUs, toUs: toUs + AFTERMATH_US, byUs };
  const last = watched.late.at(-1);
  if (last !== undefined && time.fromUs <= last.toUs) {
    watched.late[watched.late.length - 1] = {
      fromUs: Math.min(last.fromUs, time.fromUs),
      toUs: Math.max(last.toUs, time.toUs),
      byUs: Math.max(last.byUs, byUs),
    };
    return;
  }
  watched.late.push(time);
  if (watched.late.length <= MAX_LATE_TIMES) return;
  const least = Math.min(...watched.late.map((one) => one.byUs));
  watched.late.splice(
    watched.late.findIndex((one) => one.byUs === least),
    1,
  );
}
