import type { Phase, Slice } from '../metrics/index.ts';
import type { Line } from './line.ts';
import { type LineJudge, type LineState, NEW_LINE, type Outcome } from './outcome.ts';
import type { StageBook } from './stage-book.ts';
import { Tally } from './tally.ts';
import { WindowTrack, type WindowTrackState } from './window-track.ts';

/** Judges a threshold with `over`, window by window. */
export class Windowed implements LineJudge {
  readonly #line: Line;
  readonly #book: StageBook;
  readonly #tracks = new Map<string, WindowTrack>();
  #seen: boolean;

  constructor(line: Line, book: StageBook, state: LineState = NEW_LINE) {
    this.#line = line;
    this.#book = book;
    this.#seen = state.seen;
    for (const [stage, phase, track] of state.tracks) this.#open(stage, phase, track);
  }

  toJSON(): LineState {
    const tracks = [...this.#tracks.values()].map((track) => {
      return [track.place.scope.index, track.place.phase, track.toJSON()] as const;
    });
    return { ...NEW_LINE, seen: this.#seen, tracks };
  }

  add(slice: Slice): void {
    const { phase, stage } = slice;
    if (phase !== 'settle') this.#track(stage, phase)?.cover(slice);
    for (const series of slice.series) {
      this.#seen ||= this.#line.filter.matches(series);
      if (series.stage === stage && phase !== 'settle') {
        this.#track(stage, phase)?.add(slice, series);
      } else {
        this.#lastTrack(series.stage)?.addLate(series);
      }
    }
    for (const track of this.#tracks.values()) track.close();
  }

  breached(nowUs: number): Tally | null {
    if (!this.#judgeable()) return null;
    const tally = new Tally(this.#line.parsed.forWindows);
    for (const track of this.#tracks.values()) tally.merge(track.preview(nowUs));
    return tally.breached(this.#line.parsed.slo) ? tally : null;
  }

  finish(): Outcome {
    const tally = new Tally(this.#line.parsed.forWindows);
    const missing: string[] = [];
    let blurred = 0;
    let tooFew = 0;
    let fewest: number | null = null;
    for (const track of this.#tracks.values()) {
      track.finish();
      if (!this.#judgeable()) continue;
      tally.merge(track.tally);
      blurred += track.blurred;
      tooFew += track.tooFew;
      if (track.fewest !== null) fewest = Math.min(fewest ?? track.fewest, track.fewest);
      if (track.eligible > 0 && track.judged === 0 && track.tooFew === 0) {
        missing.push(`nothing was measured in stage ${track.place.scope.name}`);
      }
    }
    for (const scope of this.#line.scopes.values()) {
      if (scope.named && this.#book.span(scope.index, 'main') === null) {
        missing.push(`stage ${scope.name} did not run`);
      }
    }
    return { tally, missing, blurred, tooFew, fewest };
  }

  /** A gauge that nobody ever reported was not 0: it was not there. */
  #judgeable(): boolean {
    return this.#line.info.kind !== 'gauge' || this.#seen;
  }

  #lastTrack(stage: number): WindowTrack | null {
    const phase = this.#book.span(stage, 'main') === null ? 'prologue' : 'main';
    return this.#track(stage, phase);
  }

  #track(stage: number, phase: Phase): WindowTrack | null {
    return this.#tracks.get(`${stage}/${phase}`) ?? this.#open(stage, phase);
  }

  #open(stage: number, phase: Phase, state?: WindowTrackState): WindowTrack | null {
    const scope = this.#line.scopes.get(stage);
    if (scope === undefined) return null;
    const track = new WindowTrack({ line: this.#line, scope, phase, book: this.#book }, state);
    this.#tracks.set(`${stage}/${phase}`, track);
    return track;
  }
}
