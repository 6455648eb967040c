import { type Phase, type SeriesDelta, type Slice, WATERMARK_US } from '../metrics/index.ts';
import { Accumulator, type AccumulatorState } from './accumulator.ts';
import { asksForMore, type Finding, findingOf, judgeValues } from './finding.ts';
import { type Line, waitDelta } from './line.ts';
import type { StageScope } from './relevance.ts';
import type { PhaseSpan, StageBook } from './stage-book.ts';
import { EMPTY_TALLY, type JudgedSpan, Tally, type TallyState } from './tally.ts';

const SECOND_US = 1_000_000;
/** `plan-language.md` 4: a shorter last window counts from 1 s up. */
const SHORTEST_WINDOW_US = SECOND_US;
const TOLERANCE_US = 20_000;

/** Whether a rest of a stage is judged as a window of its own. */
export function lastsAsWindow(durationUs: number): boolean {
  return durationUs >= SHORTEST_WINDOW_US - TOLERANCE_US;
}

/**
 * Windows kept open for agents that are late. The oldest is then closed without them, and what still
 * comes for it is counted: the threshold cannot pass any more.
 */
const MAX_OPEN_WINDOWS = 32;

interface Window {
  readonly index: number;
  readonly measured: Accumulator;
  /** Things that began to wait in it, and that ended waiting. */
  began: number;
  ended: number;
}

export interface TrackPlace {
  readonly line: Line;
  readonly scope: StageScope;
  readonly phase: Phase;
  readonly book: StageBook;
}

/** A track as plain data. */
export interface WindowTrackState {
  readonly tally: TallyState;
  readonly open: readonly {
    readonly index: number;
    readonly measured: AccumulatorState;
    readonly began: number;
    readonly ended: number;
  }[];
  readonly next: number;
  readonly waiting: number;
  readonly blurred: number;
  readonly eligible: number;
  readonly tooFew: number;
  readonly fewest: number | null;
  readonly judged: number;
}

/**
 * The tumbling windows of one threshold in one phase of one stage. A window stays open until all
 * live agents have reported it; the last one of a stage until the end of the run, since what is
 * acknowledged in the stage's drain belongs to it.
 */
export class WindowTrack {
  readonly #place: TrackPlace;
  readonly #overUs: number;
  /** The windows that are closed for good. */
  readonly tally: Tally;
  readonly #open = new Map<number, Window>();
  /** Windows below are closed for good. */
  #next: number;
  /** Things waiting when window `#next` begins. */
  #waiting: number;
  /** Measurements that came for a closed window, or covered more than one. */
  blurred: number;
  /** Windows that were asked, by `after`; that had too few samples; that were judged. */
  eligible: number;
  tooFew: number;
  /** Samples of the one that had fewest of those with too few. */
  fewest: number | null;
  judged: number;

  constructor(place: TrackPlace, state: WindowTrackState = NEW_TRACK) {
    this.#place = place;
    this.#overUs = place.line.parsed.overUs ?? SECOND_US;
    this.tally = new Tally(place.line.parsed.forWindows, state.tally);
    for (const { measured, ...window } of state.open) {
      const sums = new Accumulator(place.line.info.kind, measured);
      this.#open.set(window.index, { ...window, measured: sums });
    }
    this.#next = state.next;
    this.#waiting = state.waiting;
    this.blurred = state.blurred;
    this.eligible = state.eligible;
    this.tooFew = state.tooFew;
    this.fewest = state.fewest;
    this.judged = state.judged;
  }

  toJSON(): WindowTrackState {
    return {
      tally: this.tally.toJSON(),
      open: [...this.#open.values()].map((one) => ({ ...one, measured: one.measured.toJSON() })),
      next: this.#next,
      waiting: this.#waiting,
      blurred: this.blurred,
      eligible: this.eligible,
      tooFew: this.tooFew,
      fewest: this.fewest,
      judged: this.judged,
    };
  }

  get place(): TrackPlace {
    return this.#place;
  }

  /** A slice of this very phase: its seconds exist, whatever is in them. */
  cover(slice: Slice): void {
    const seconds = this.#overUs / SECOND_US;
    const first = Math.floor(slice.n / seconds);
    const last = Math.floor((slice.n + slice.span - 1) / seconds);
    for (let index = Math.max(first, this.#next); index <= last; index++) this.#window(index);
    if (first !== last && slice.series.length > 0) this.blurred++;
    if (this.#place.line.info.kind === 'gauge' && this.#place.phase === 'main') {
      for (let n = slice.n; n < slice.n + slice.span; n++) this.#second(n, 0);
    }
    this.#closeOldest();
  }

  /** What was measured in a slice of this very phase. */
  add(slice: Slice, series: SeriesDelta): void {
    if (this.#place.line.info.kind === 'gauge') {
      if (!this.#place.line.filter.matches(series)) return;
      for (let n = slice.n; n < slice.n + slice.span; n++) this.#second(n, series.value ?? 0);
      return;
    }
    const last = slice.n + slice.span - 1;
    this.#put(Math.floor((last * SECOND_US) / this.#overUs), series);
  }

  /** What was measured after the stage but belongs to it: goes to its last window. */
  addLate(series: SeriesDelta): void {
    if (this.#place.line.info.kind === 'gauge') return;
    this.#put(Math.max(this.#next, ...this.#open.keys()), series);
  }

  /** Closes the windows that nothing can be added to any more. */
  close(): void {
    const { scope, phase, book } = this.#place;
    for (;;) {
      const window = this.#open.get(this.#next);
      const end = ((this.#next + 1) * this.#overUs) / SECOND_US;
      // One whole second more: then the next window counts, and this one is not the last.
      const goesOn = (book.span(scope.index, phase)?.fullSeconds ?? 0) > end;
      if (window === undefined || !goesOn || !book.reported(scope.index, phase, end)) return;
      this.#closeWindow(window);
    }
  }

  /**
   * The tally as it would be if all that is due by now were closed: windows that all live agents
   * have reported, or that ended more than the watermark ago.
   */
  preview(nowUs: number): Tally {
    const { scope, phase, book } = this.#place;
    const tally = this.tally.copy();
    let waiting = this.#waiting;
    for (const window of this.#inOrder()) {
      const end = ((window.index + 1) * this.#overUs) / SECOND_US;
      const endUs = (this.#span()?.startUs ?? 0) + (window.index + 1) * this.#overUs;
      const due = book.reported(scope.index, phase, end) || nowUs >= endUs + WATERMARK_US;
      if (!due) break;
      const finding = this.#judge(window, waiting);
      waiting = this.#waitingAfter(window, waiting);
      if (typeof finding === 'object') tally.add(this.#spanOf(window, finding));
    }
    return tally;
  }

  /** The run is over: everything that is left is judged. */
  finish(): void {
    const windows = this.#inOrder();
    const last = windows.at(-1);
    const before = windows.at(-2);
    // A rest of less than a second is no window of its own, but what is in it was measured: it
    // would be a hiding place for what comes back only in the drain.
    if (last !== undefined && before !== undefined && this.#durationUs(last) < SHORTEST_WINDOW_US) {
      before.measured.merge(last.measured);
      before.began += last.began;
      before.ended += last.ended;
      windows.pop();
    }
    for (const window of windows) this.#closeWindow(window);
  }

  #put(index: number, series: SeriesDelta): void {
    const { line } = this.#place;
    const measured = line.filter.matches(series);
    const based = line.base?.matches(series) === true;
    const wait = waitDelta(line, series);
    if (!measured && !based && wait === 0) return;
    if (index < this.#next) {
      this.blurred++;
      return;
    }
    const window = this.#window(index);
    if (measured) window.measured.add(series);
    if (based) window.measured.addBase(series.value ?? 0);
    if (wait > 0) window.began += wait;
    else window.ended -= wait;
  }

  #second(n: number, value: number): void {
    const index = Math.floor((n * SECOND_US) / this.#overUs);
    if (index >= this.#next) this.#window(index).measured.addSecond(n, value);
    else if (value !== 0) this.blurred++;
  }

  #window(index: number): Window {
    const known = this.#open.get(index);
    if (known !== undefined) return known;
    const measured = new Accumulator(this.#place.line.info.kind);
    const window = { index, measured, began: 0, ended: 0 };
    this.#open.set(index, window);
    return window;
  }

  #inOrder(): Window[] {
    return [...this.#open.values()].toSorted((a, b) => a.index - b.index);
  }

  #closeOldest(): void {
    for (const window of this.#inOrder()) {
      if (this.#open.size <= MAX_OPEN_WINDOWS) return;
      this.#closeWindow(window);
    }
  }

  #closeWindow(window: Window): void {
    const finding = this.#judge(window, this.#waiting);
    this.#open.delete(window.index);
    this.#next = Math.max(this.#next, window.index + 1);
    this.#waiting = this.#waitingAfter(window, this.#waiting);
    const partial = this.#durationUs(window) < this.#overUs - TOLERANCE_US;
    if (finding !== 'left out') this.eligible++;
    // A short last window has few samples because it is short, which is no reason to doubt the rest.
    if (finding === 'too few' && !(partial && this.judged > 0)) {
      const samples = this.#samples(window);
      this.tooFew++;
      this.fewest = Math.min(this.fewest ?? samples, samples);
    }
    if (typeof finding !== 'object') return;
    this.judged++;
    this.tally.add(this.#spanOf(window, finding), partial);
  }

  #judge(window: Window, waiting: number): Finding | 'left out' | 'no data' | 'too few' {
    const { line, scope, phase } = this.#place;
    const durationUs = this.#durationUs(window);
    if (!lastsAsWindow(durationUs) && window.index > 0) return 'left out';
    if (window.index * this.#overUs < line.parsed.afterUs) return 'left out';
    if (phase !== 'main' && line.parsed.afterUs > 0) return 'left out';
    // Nothing is missing where the plan does nothing of the kind; what is there is judged.
    const asked = phase === 'main' && (scope.named || scope.relevant);
    if (!asked && (!window.measured.moved || asksForMore(line.parsed))) return 'left out';
    const { minSamples } = line.spec;
    if (minSamples !== null && this.#samples(window) < minSamples) return 'too few';
    const finding = judgeValues(line.parsed, window.measured, durationUs);
    return finding ?? this.#judgeSilence(waiting - window.ended) ?? 'no data';
  }

  #samples({ measured }: Window): number {
    return Math.min(...this.#place.line.parsed.terms.map((term) => measured.samples(term)));
  }

  /**
   * A window in which nothing was timed, though something waited from its beginning to its end:
   * when that is longer than the limit, the limit is broken, and a frozen broker leaves no gap in
   * a row of failed windows.
   */
  #judgeSilence(waitedThroughout: number): Finding | null {
    const { parsed, waits } = this.#place.line;
    if (waits.length === 0 || waitedThroughout <= 0 || asksForMore(parsed)) return null;
    const waited = findingOf(
      parsed.terms,
      parsed.terms.map(() => this.#overUs),
    );
    return waited.holds ? null : waited;
  }

  #waitingAfter(window: Window, before: number): number {
    // What was sent in the same window as the last delivery is taken for delivered.
    if (this.#place.line.endsAllWaits && window.measured.moved) return 0;
    return before + window.began - window.ended;
  }

  #span(): PhaseSpan | null {
    return this.#place.book.span(this.#place.scope.index, this.#place.phase);
  }

  #durationUs(window: Window): number {
    const span = this.#span();
    if (span === null) return 0;
    const startUs = span.startUs + window.index * this.#overUs;
    // Until the stage is over its end is only what has been reported.
    const leftUs = span.endUs - startUs;
    return Math.max(0, Math.min(this.#overUs, leftUs));
  }

  #spanOf(window: Window, finding: Finding): JudgedSpan {
    const fromUs = (this.#span()?.startUs ?? 0) + window.index * this.#overUs;
    const toUs = fromUs + this.#durationUs(window);
    return { stage: this.#place.scope.name, fromUs, toUs, finding };
  }
}

const NEW_TRACK: WindowTrackState = {
  tally: EMPTY_TALLY,
  open: [],
  next: 0,
  waiting: 0,
  blurred: 0,
  eligible: 0,
  tooFew: 0,
  fewest: null,
  judged: 0,
};
