import { METRICS, type MetricName } from '../catalogue.ts';
import {
  type FailureExample,
  type Frame,
  MAX_EXAMPLES,
  type SeriesKey,
  type Slice,
} from '../frame.ts';
import { Histogram } from '../histogram.ts';
import {
  type FoldOutcome,
  FrameBook,
  type FrameBookState,
  type MissingFrames,
} from './frame-book.ts';
import { GaugeBoard, type GaugeBoardState } from './gauge-board.ts';
import { type Moment, MomentBoard, type MomentBoardState } from './moments.ts';
import { type SeriesState, SeriesStore, type SeriesTotal } from './series-store.ts';
import { Timeline, type TimelineState } from './timeline.ts';

/** How long a moment waits for agents that have not reported it, µs. */
export const WATERMARK_US = 3_000_000;

/** Examples of a run in all: reasons are texts of brokers, and there may be any number of them. */
const MAX_RUN_EXAMPLES = 10_000;

/** A failure example with the agent that saw it. */
export interface AgentExample extends FailureExample {
  readonly agent: string;
}

/** Which series a question is about; what is left out may be anything. */
export interface SeriesFilter {
  readonly metric?: MetricName;
  /** A group (its streams included) or a stream. */
  readonly subject?: string;
  readonly stage?: number;
  readonly qos?: 0 | 1 | 2;
  readonly reason?: string;
}

export type SliceListener = (agent: string, slice: Slice) => void;

/**
 * Everything that the controller knows of a run by its frames. Each (agent, epoch, sequence) is
 * folded exactly once, whatever arrives twice or out of order, so its figures are those of the run.
 *
 * `toJSON` gives all of it as plain data (sparse), and the constructor takes it back.
 */
export class RunAggregate {
  readonly #run: string;
  readonly #book: FrameBook;
  readonly #store: SeriesStore;
  /** Counters of each agent, added up apart, so that their sum can be held against the whole. */
  readonly #agents: Map<string, SeriesStore>;
  readonly #gauges: GaugeBoard;
  readonly #moments: MomentBoard;
  readonly #growth: Map<MetricName, number>;
  readonly #listeners = new Set<SliceListener>();
  #examples: AgentExample[];
  #conflicts: number;
  /** How the run went over its own time. */
  readonly timeline: Timeline;

  constructor(run: string, state: RunAggregateState = EMPTY) {
    this.#run = run;
    this.#book = new FrameBook(state.frames);
    this.#store = new SeriesStore(state.series);
    this.#agents = new Map(state.agents.map(([agent, own]) => [agent, new SeriesStore(own)]));
    this.#gauges = new GaugeBoard(state.gauges);
    this.#moments = new MomentBoard(state.moments);
    this.#growth = new Map(state.growth);
    this.#examples = [...state.examples];
    this.#conflicts = state.conflicts;
    this.timeline = new Timeline(state.timeline);
  }

  /**
   * Adds a frame to all figures, once. Listeners get its slices before this returns.
   * @throws SquallError SQ_FRAME beyond the number of series that a run may have.
   */
  fold(frame: Frame): FoldOutcome {
    if (frame.run !== this.#run) return 'foreign';
    const outcome = this.#book.enter(frame);
    if (outcome === 'conflict') this.#conflicts++;
    if (outcome !== 'folded') return outcome;
    for (const slice of frame.slices) this.#foldSlice(frame.agent, slice);
    return outcome;
  }

  /** Listeners get every slice from now on, once. The returned function ends that. */
  onSlice(listener: SliceListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Counters and times since the start of the run. */
  *series(filter: SeriesFilter = {}): Generator<SeriesTotal> {
    for (const total of this.#store.all()) {
      if (accepts(filter, total.key)) yield total;
    }
  }

  /** Sum of the counters that fit. With `stage`, only what was due in that stage. */
  counter(filter: SeriesFilter & { readonly metric: MetricName }): number {
    let sum = 0;
    for (const { value } of this.series(filter)) sum += value;
    return sum;
  }

  /** All times that fit, merged into a histogram of its own. */
  histogram(filter: SeriesFilter & { readonly metric: MetricName }): Histogram {
    const merged = new Histogram();
    for (const { histogram } of this.series(filter)) {
      if (histogram !== null) merged.add(histogram);
    }
    return merged;
  }

  /** Newest value of a gauge, summed over agents; 0 where none reported it. */
  gauge(metric: MetricName, subject?: string): number {
    return this.#gauges.sum(
      metric,
      (other) => subject === undefined || isSubjectOf(other, subject),
    );
  }

  /** An agent that is lost: its gauges (connections, in flight, waiting) count no more. */
  agentLost(agent: string): void {
    this.#gauges.forget(agent);
  }

  /** Agents of which a frame arrived. */
  agents(): string[] {
    return this.#book.agents();
  }

  /** Counters of one agent since the start of the run. */
  *agentCounters(agent: string): Generator<SeriesTotal> {
    yield* this.#agents.get(agent)?.all() ?? [];
  }

  /** The first failures of each (metric, subject, reason). */
  examples(): readonly AgentExample[] {
    return this.#examples;
  }

  /** Frames folded of an agent; a coarsened one counts as all that it covers. */
  framesReceived(agent: string): number {
    return this.#book.received(agent);
  }

  /** Everything up to here is folded: what may be acknowledged. */
  contiguousSeq(agent: string, epoch: number): number {
    return this.#book.contiguous(agent, epoch);
  }

  /** Gaps in what an agent sent; `lastSeq` is what it said to be its last. */
  missing(agent: string, lastSeq?: number): MissingFrames[] {
    return this.#book.missing(agent, lastSeq);
  }

  /** Frames that overlapped with folded ones and were left out. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /**
   * The last moment that all live agents have reported, or that ended more than the watermark before
   * `nowUs` (on the run's timeline). Null before there is one. It never goes back.
   */
  closedUpTo(live: readonly string[], nowUs: number, watermarkUs = WATERMARK_US): Moment | null {
    return this.#moments.close(live, nowUs - watermarkUs);
  }

  /** End of the newest slice of an agent, µs on the run's timeline. Null before its first. */
  reportedUpToUs(agent: string): number | null {
    return this.#moments.newestOf(agent)?.toUs ?? null;
  }

  /** End of the last slice in which a counter grew, µs on the run's timeline. Null: it never did. */
  lastGrowthUs(metric: MetricName): number | null {
    return this.#growth.get(metric) ?? null;
  }

  toJSON(): RunAggregateState {
    return {
      frames: this.#book.toJSON(),
      series: this.#store.toJSON(),
      agents: [...this.#agents].map(([agent, own]) => [agent, own.toJSON()]),
      gauges: this.#gauges.toJSON(),
      moments: this.#moments.toJSON(),
      growth: [...this.#growth],
      examples: this.#examples,
      conflicts: this.#conflicts,
      timeline: this.timeline.toJSON(),
    };
  }

  #foldSlice(agent: string, slice: Slice): void {
    const own = this.#agents.get(agent) ?? new SeriesStore();
    this.#agents.set(agent, own);
    for (const series of slice.series) {
      this.#store.add(series);
      if (METRICS[series.metric].kind === 'counter') own.add(series);
      if ((series.value ?? 0) > 0) this.#grew(series.metric, slice.toUs);
    }
    this.#gauges.report(agent, slice);
    this.#moments.report(agent, slice);
    this.timeline.add(agent, slice);
    this.#keepExamples(agent, slice.examples);
    for (const listener of this.#listeners) listener(agent, slice);
  }

  #grew(metric: MetricName, toUs: number): void {
    this.#growth.set(metric, Math.max(this.#growth.get(metric) ?? -Infinity, toUs));
  }

  #keepExamples(agent: string, examples: readonly FailureExample[]): void {
    if (examples.length === 0) return;
    const added = examples.map((example): AgentExample => ({ ...example, agent }));
    const sorted = [...this.#examples, ...added].toSorted((a, b) => a.atUs - b.atUs);
    const kept = new Map<string, number>();
    const earliest = sorted.filter(({ metric, subject, reason }) => {
      const kind = `${metric}\n${subject}\n${reason}`;
      const before = kept.get(kind) ?? 0;
      kept.set(kind, before + 1);
      return before < MAX_EXAMPLES;
    });
    this.#examples = earliest.slice(0, MAX_RUN_EXAMPLES);
  }
}

export interface RunAggregateState {
  readonly frames: readonly FrameBookState[];
  readonly series: readonly SeriesState[];
  readonly agents: readonly (readonly [string, readonly SeriesState[]])[];
  readonly gauges: GaugeBoardState;
  readonly moments: MomentBoardState | undefined;
  readonly growth: readonly (readonly [MetricName, number])[];
  readonly examples: readonly AgentExample[];
  readonly conflicts: number;
  readonly timeline: TimelineState | undefined;
}

const EMPTY: RunAggregateState = {
  frames: [],
  series: [],
  agents: [],
  gauges: [],
  moments: undefined,
  growth: [],
  examples: [],
  conflicts: 0,
  timeline: undefined,
};

/** Whether `subject` is `wanted` itself or a stream of the group `wanted`. */
export function isSubjectOf(subject: string, wanted: string): boolean {
  return subject === wanted || subject.startsWith(`${wanted}.`);
}

function accepts(filter: SeriesFilter, key: SeriesKey): boolean {
  if (filter.metric !== undefined && filter.metric !== key.metric) return false;
  if (filter.subject !== undefined && !isSubjectOf(key.subject, filter.subject)) return false;
  if (filter.stage !== undefined && filter.stage !== key.stage) return false;
  if (filter.qos !== undefined && filter.qos !== key.qos) return false;
  return filter.reason === undefined || filter.reason === key.reason;
}
