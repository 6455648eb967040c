import type { Slice } from '../metrics/index.ts';
import { Accumulator } from './accumulator.ts';
import { asksForMore, judgeValues } from './finding.ts';
import type { Line } from './line.ts';
import { type LineJudge, type LineState, NEW_LINE, type Outcome } from './outcome.ts';
import type { StageScope } from './relevance.ts';
import type { StageBook } from './stage-book.ts';
import { Tally } from './tally.ts';

interface Span {
  readonly fromUs: number;
  readonly toUs: number;
}

interface Notes {
  readonly tally: Tally;
  readonly missing: string[];
  tooFew: number;
  fewest: number | null;
}

/**
 * Judges a threshold without `over`: each stage as a whole, by what belongs to it whenever it was
 * measured. A `count` that names no stage is that of all of them together, as its reader expects.
 */
export class WholeStage implements LineJudge {
  readonly #line: Line;
  readonly #book: StageBook;
  readonly #stages: Map<number, Accumulator>;
  #seen: boolean;

  constructor(line: Line, book: StageBook, state: LineState = NEW_LINE) {
    this.#line = line;
    this.#book = book;
    this.#seen = state.seen;
    this.#stages = new Map(
      state.stages.map(([stage, sums]) => [stage, new Accumulator(line.info.kind, sums)]),
    );
  }

  toJSON(): LineState {
    const stages = [...this.#stages].map(([stage, sums]) => [stage, sums.toJSON()] as const);
    return { ...NEW_LINE, seen: this.#seen, stages };
  }

  add(slice: Slice): void {
    if (this.#line.info.kind === 'gauge') this.#addGauges(slice);
    else this.#addOthers(slice);
  }

  /** Known only at the end. */
  breached(): null {
    return null;
  }

  finish(): Outcome {
    const notes: Notes = { tally: new Tally(1), missing: [], tooFew: 0, fewest: null };
    if (this.#line.total) this.#finishTotal(notes);
    else for (const scope of this.#line.scopes.values()) this.#finishStage(scope, notes);
    return { ...notes, blurred: 0 };
  }

  #addOthers({ series: list }: Slice): void {
    const { filter, base, scopes } = this.#line;
    for (const series of list) {
      const measured = filter.matches(series);
      const based = base?.matches(series) === true;
      if ((!measured && !based) || !scopes.has(series.stage)) continue;
      const sums = this.#of(series.stage);
      if (measured) sums.add(series);
      if (based) sums.addBase(series.value ?? 0);
    }
  }

  #addGauges(slice: Slice): void {
    if (slice.phase !== 'main' || !this.#line.scopes.has(slice.stage)) return;
    const sums = this.#of(slice.stage);
    // What the stage before still has under way is that stage's own.
    const values = slice.series.filter(
      (series) => series.stage === slice.stage && this.#line.filter.matches(series),
    );
    this.#seen ||= values.length > 0;
    const sum = values.reduce((total, series) => total + (series.value ?? 0), 0);
    for (let n = slice.n; n < slice.n + slice.span; n++) sums.addSecond(n, sum);
  }

  #finishTotal(notes: Notes): void {
    const scopes = [...this.#line.scopes.values()];
    const ran = scopes.filter((scope) => this.#spanOf(scope) !== null);
    const sums = new Accumulator(this.#line.info.kind);
    for (const scope of ran) sums.merge(this.#of(scope.index));
    const asked = scopes.filter((scope) => scope.relevant);
    const nothing = ran.length === 0 || (asked.length > 0 && !asked.some((s) => ran.includes(s)));
    if (nothing && !sums.moved) {
      notes.missing.push('no stage that it speaks of ran');
      return;
    }
    const spans = ran.flatMap((scope) => this.#spanOf(scope) ?? []);
    const span = {
      fromUs: Math.min(...spans.map((one) => one.fromUs)),
      toUs: Math.max(...spans.map((one) => one.toUs)),
    };
    this.#judge(sums, { stage: ran.map((scope) => scope.name).join(', '), span, notes });
  }

  #finishStage(scope: StageScope, notes: Notes): void {
    const span = this.#spanOf(scope);
    const sums = this.#of(scope.index);
    if (span === null) {
      if (scope.named) notes.missing.push(`stage ${scope.name} did not run`);
      return;
    }
    const asked = scope.named || scope.relevant;
    if (!asked && (!sums.moved || asksForMore(this.#line.parsed))) return;
    this.#judge(sums, { stage: scope.name, span, notes });
  }

  #judge(
    sums: Accumulator,
    { stage, span, notes }: { stage: string; span: Span; notes: Notes },
  ): void {
    const { parsed, spec, info } = this.#line;
    const { minSamples } = spec;
    const samples = Math.min(...parsed.terms.map((term) => sums.samples(term)));
    if (minSamples !== null && samples < minSamples) {
      notes.tooFew++;
      notes.fewest = Math.min(notes.fewest ?? samples, samples);
      return;
    }
    const there = info.kind !== 'gauge' || this.#seen;
    const finding = there ? judgeValues(parsed, sums, span.toUs - span.fromUs) : null;
    if (finding === null) notes.missing.push(`nothing was measured in stage ${stage}`);
    else notes.tally.add({ stage, ...span, finding });
  }

  /**
   * When the stage was at the work that the metric counts; null: it never was. Clients connect and
   * subscribe in the prologue, too, before the stage's clock; messages flow from the clock on.
   */
  #spanOf({ index }: StageScope): Span | null {
    const main = this.#book.span(index, 'main');
    const prologue = this.#book.span(index, 'prologue');
    const { family } = this.#line;
    if (family === 'publish' || family === 'receive' || prologue === null) {
      return main === null ? null : { fromUs: main.startUs, toUs: main.endUs };
    }
    return { fromUs: prologue.startUs, toUs: (main ?? prologue).endUs };
  }

  #of(stage: number): Accumulator {
    const known = this.#stages.get(stage);
    if (known !== undefined) return known;
    const sums = new Accumulator(this.#line.info.kind);
    this.#stages.set(stage, sums);
    return sums;
  }
}
