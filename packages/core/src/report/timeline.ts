import {
  Histogram,
  mergeSparse,
  METRICS,
  type MetricName,
  type SeriesDelta,
  type Slice,
  type SparseHistogram,
} from '../metrics/index.ts';

/** The run step by step, over all agents. */
export interface TimelineData {
  readonly stepUs: number;
  readonly series: readonly TimelineSeries[];
}

export interface TimelineSeries {
  readonly metric: MetricName;
  /** `group` or `group.stream`. */
  readonly subject: string;
  /** Growth of counters, value at the end of gauges (summed over agents), p99 of times in µs. */
  readonly values: readonly (number | null)[];
}

const SECOND_US = 1_000_000;
/** Four hours of seconds. A longer run gets steps of 2 s, then 4 s … */
const MAX_STEPS = 14_400;
/** Different series in a report's time line; reasons are summed up, so a plan has some dozens. */
const MAX_SERIES = 2_000;
/** Steps behind the newest one whose times are still added to; then only their p99 is kept. */
const OPEN_STEPS = 120;

interface Track {
  readonly metric: MetricName;
  readonly subject: string;
  values: (number | null)[];
  /** Times: what was recorded in the steps that are still open. */
  readonly open: Map<number, SparseHistogram>;
  /** Gauges: what each agent said last. */
  readonly said: Map<string, { step: number; value: number }>;
}

/**
 * Second-by-second figures, bounded in memory: counters, gauges, and one percentile of the times.
 * What a slice covers is put where the slice ends.
 */
export class Timeline {
  readonly #tracks = new Map<string, Track>();
  #stepUs = SECOND_US;
  #steps = 0;
  #omitted = 0;

  /** Series that found no room. */
  get omitted(): number {
    return this.#omitted;
  }

  add(agent: string, slice: Slice): void {
    const step = this.#stepOf(slice);
    for (const series of slice.series) {
      const track = this.#track(series);
      if (track !== undefined) put(track, { agent, step, series });
    }
  }

  data(): TimelineData {
    const series = [...this.#tracks.values()].map((track) => {
      closeSteps(track, Number.POSITIVE_INFINITY);
      // A counter that did not move in a step grew by 0; a time or gauge was not there.
      const missing = METRICS[track.metric].kind === 'counter' ? 0 : null;
      const values = Array.from({ length: this.#steps }, (_, at) => track.values[at] ?? missing);
      return { metric: track.metric, subject: track.subject, values };
    });
    return { stepUs: this.#stepUs, series };
  }

  #stepOf(slice: Slice): number {
    // Slices end at whole seconds: a hair before the end lies in the second that it covers.
    const at = Math.max(0, slice.toUs - Math.min(1_000, (slice.toUs - slice.fromUs) / 2));
    while (at / this.#stepUs >= MAX_STEPS) this.#coarsen();
    const step = Math.floor(at / this.#stepUs);
    this.#steps = Math.max(this.#steps, step + 1);
    for (const track of this.#tracks.values()) closeSteps(track, step - OPEN_STEPS);
    return step;
  }

  #track(series: SeriesDelta): Track | undefined {
    const key = `${series.metric}\n${series.subject}`;
    const known = this.#tracks.get(key);
    if (known !== undefined) return known;
    if (this.#tracks.size >= MAX_SERIES) {
      this.#omitted++;
      return undefined;
    }
    const { metric, subject } = series;
    const track: Track = { metric, subject, values: [], open: new Map(), said: new Map() };
    this.#tracks.set(key, track);
    return track;
  }

  #coarsen(): void {
    this.#stepUs *= 2;
    this.#steps = Math.ceil(this.#steps / 2);
    for (const track of this.#tracks.values()) {
      closeSteps(track, Number.POSITIVE_INFINITY);
      track.values = halve(track);
      track.said.clear();
    }
  }
}

interface Sample {
  readonly agent: string;
  readonly step: number;
  readonly series: SeriesDelta;
}

function put(track: Track, { agent, step, series }: Sample): void {
  if (series.histogram !== undefined) {
    const open = track.open.get(step);
    track.open.set(
      step,
      open === undefined ? series.histogram : mergeSparse(open, series.histogram),
    );
    return;
  }
  const value = series.value ?? 0;
  if (METRICS[track.metric].kind !== 'gauge') {
    track.values[step] = (track.values[step] ?? 0) + value;
    return;
  }
  // Two slices of an agent can end in one step (a short one at the change of stages): the later
  // value stands, and others of the same slice add to it by their own key.
  const who = `${agent}\n${series.stage}\n${series.qos ?? ''}\n${series.reason ?? ''}`;
  const before = track.said.get(who);
  const replaced = before !== undefined && before.step === step ? before.value : 0;
  track.values[step] = (track.values[step] ?? 0) - replaced + value;
  track.said.set(who, { step, value });
}

/** Turns the recorded times of steps before `before` into their p99. */
function closeSteps(track: Track, before: number): void {
  for (const [step, sparse] of track.open) {
    if (step >= before) continue;
    const p99 = Histogram.fromSparse(sparse).percentileUs(99);
    track.values[step] = Math.max(track.values[step] ?? 0, p99);
    track.open.delete(step);
  }
}

/** Two steps as one: counters add up, gauges keep the later, times the higher. */
function halve(track: Track): (number | null)[] {
  const { kind } = METRICS[track.metric];
  return Array.from({ length: Math.ceil(track.values.length / 2) }, (_, at) => {
    const first = track.values[at * 2] ?? null;
    const second = track.values[at * 2 + 1] ?? null;
    if (first === null || second === null) return second ?? first;
    if (kind === 'counter') return first + second;
    return kind === 'gauge' ? second : Math.max(first, second);
  });
}
