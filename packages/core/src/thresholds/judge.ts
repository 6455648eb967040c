import type { SeriesDelta, Slice } from '../metrics/index.ts';
import type { Plan } from '../plan/plan.ts';
import { formatCount, formatDuration } from '../units/index.ts';
import { isProbeLine } from '../probes/check-line.ts';
import { type Line, lineOf } from './line.ts';
import type { LineJudge, LineState, Outcome } from './outcome.ts';
import { type AbortDecision, abortDecision, leadsTo, worstOf } from './result-parts.ts';
import type { ThresholdResult, ThresholdState } from './result.ts';
import { StageBook, type StageBookState } from './stage-book.ts';
import { Tally, type TallyState } from './tally.ts';
import { WholeStage } from './whole-stage.ts';
import { Windowed } from './windowed.ts';
import { expectedText, observedText, unitOf } from './wording.ts';

export interface JudgeOptions {
  readonly plan: Plan;
  /** Ids of the agents that take part. */
  readonly agents: readonly string[];
}

/** All that a judge knows, as plain data. The lines are those of `Judge`, in the plan's order. */
export interface JudgeState {
  readonly book: StageBookState;
  readonly lines: readonly {
    readonly known: LineState;
    readonly abortedBy: TallyState | null;
    readonly boundUs: number;
  }[];
  readonly clockDoubt: string | null;
}

interface Judged {
  readonly line: Line;
  readonly by: LineJudge;
  /** What was known when it ended the run. */
  abortedBy: Tally | null;
  /** How far off the times that it speaks of may be, as they were read on different clocks. */
  boundUs: number;
}

/**
 * Judges the thresholds of a plan against the measurements of all agents. Those that speak of probes are
 * `ProbeJudge`'s.
 *
 * It is fed with every slice of every agent, once (`RunAggregate.onSlice`), asked for a decision as
 * time goes by, and for the results when the run is over.
 *
 * Until then `toJSON` gives all that it knows, and the constructor takes it back.
 */
export class Judge {
  readonly #book: StageBook;
  readonly #judged: readonly Judged[];
  #results: readonly ThresholdResult[] | null = null;
  /** Why thresholds on the ledger are inconclusive; null: they are not. */
  #ledgerDoubt: string | null = 'delivery was not verified';
  /** Why delivery times between hosts cannot be trusted at all; null: they can, within their bound. */
  #clockDoubt: string | null;

  /** @throws SquallError SQ_THRESHOLD for a threshold that a checked plan cannot have. */
  constructor(options: JudgeOptions, state?: JudgeState) {
    this.#clockDoubt = state?.clockDoubt ?? null;
    this.#book = new StageBook(options.agents, state?.book);
    const specs = options.plan.thresholds.filter((spec) => !isProbeLine(spec, options.plan));
    this.#judged = specs.map((spec, index) => {
      const line = lineOf(spec, options.plan);
      const { known, abortedBy = null, boundUs = 0 } = state?.lines[index] ?? {};
      const by =
        line.parsed.overUs === null
          ? new WholeStage(line, this.#book, known)
          : new Windowed(line, this.#book, known);
      const tally = abortedBy && new Tally(line.parsed.forWindows, abortedBy);
      return { line, by, abortedBy: tally, boundUs };
    });
  }

  toJSON(): JudgeState {
    return {
      book: this.#book.toJSON(),
      lines: this.#judged.map(({ by, abortedBy, boundUs }) => ({
        known: by.toJSON(),
        abortedBy: abortedBy?.toJSON() ?? null,
        boundUs,
      })),
      clockDoubt: this.#clockDoubt,
    };
  }

  /** Takes a slice of an agent. Each slice once; what comes after `finish` is left out. */
  add(agent: string, slice: Slice): void {
    if (this.#results !== null) return;
    this.#book.report(agent, slice);
    for (const one of this.#judged) {
      one.by.add(slice);
      one.boundUs = Math.max(one.boundUs, boundOf(one.line, slice));
    }
  }

  /**
   * The clocks of two hosts contradict what was known of them, as `doubt` says in one sentence: from
   * then on nothing certain can be said of delivery times. The first doubt stands.
   */
  doubtClocks(doubt: string): void {
    if (this.#results === null) this.#clockDoubt ??= doubt;
  }

  /**
   * Takes the figures of the delivery ledger (`ledgerSeries`), once, before `finish`. Where the ledger
   * is not whole, `doubt` says why in one sentence: then nothing certain can be said of them.
   */
  takeLedger(series: readonly SeriesDelta[], doubt: string | null): void {
    if (this.#results !== null) return;
    this.#ledgerDoubt = doubt;
    const slice = { stage: 0, phase: 'settle', n: 0, span: 1, fromUs: 0, toUs: 0 } as const;
    for (const { by } of this.#judged) by.add({ ...slice, series, examples: [] });
  }

  /** Nobody waits for the agent any more; what it reported stays. */
  agentLost(agent: string): void {
    this.#book.lost(agent);
  }

  /**
   * Whether a threshold with `abort` is broken by what is due at `nowUs` (µs on the run's timeline).
   * The first decision stands; later calls give null.
   */
  advance(nowUs: number): AbortDecision | null {
    if (this.#results !== null || this.#judged.some((one) => one.abortedBy !== null)) return null;
    for (const one of this.#judged) {
      const { line, by } = one;
      if (line.parsed.onBreach !== 'abort' || this.#doubt(one) !== null) continue;
      const tally = by.breached(nowUs);
      if (tally === null) continue;
      one.abortedBy = tally;
      const observed = this.#observed(line, tally).text;
      return abortDecision(line.spec.text, observed);
    }
    return null;
  }

  /** The results of its own lines, in the order of the plan. Nothing can be added afterwards. */
  finish(): readonly ThresholdResult[] {
    this.#results ??= this.#judged.map((one) => this.#result(one, one.by.finish()));
    return this.#results;
  }

  #result(one: Judged, outcome: Outcome): ThresholdResult {
    const { line, abortedBy } = one;
    const { state, remark } = this.#stateOf(one, outcome);
    // What ended the run is told as it was then, whatever late measurements make of it.
    const tally = abortedBy ?? outcome.tally;
    const [term] = line.parsed.terms;
    const { value, text } = this.#observed(line, tally);
    const missing = missingText(line, { state, outcome });
    return {
      id: line.spec.id,
      text: line.spec.text,
      state,
      leadsTo: leadsTo(state, {
        noData: line.spec.noData,
        mild: line.parsed.onBreach === 'warn',
      }),
      expected: expectedText(line.parsed),
      observed: value,
      unit: term === undefined ? 'count' : unitOf(term, line.info),
      observedText: value === null ? missing : text,
      worst: worstOf(tally),
      windows: tally.windows,
      failedWindows: tally.failedWindows,
      partialWindows: tally.partialWindows,
      aborted: abortedBy !== null,
      remark,
    };
  }

  #observed(line: Line, { worst }: Tally): { value: number | null; text: string } {
    if (worst === null) return { value: null, text: 'no data' };
    const text = observedText(line.parsed.terms, worst.finding, (term) => unitOf(term, line.info));
    return { value: worst.finding.value, text };
  }

  /** From what is certain to what is not: nothing doubtful may turn a failure into less. */
  #stateOf(one: Judged, outcome: Outcome): { state: ThresholdState; remark: string } {
    const { line, abortedBy } = one;
    const doubt = this.#doubt(one);
    if (doubt !== null) return { state: 'inconclusive', remark: doubt };
    if (abortedBy !== null) return { state: 'fail', remark: 'it ended the run' };
    const { tally, missing, tooFew, blurred } = outcome;
    if (tally.breached(line.parsed.slo)) {
      return { state: line.parsed.onBreach === 'warn' ? 'warn' : 'fail', remark: '' };
    }
    if (missing.length > 0) return { state: 'no_data', remark: missing.join('; ') };
    if (tooFew > 0) {
      const remark = `fewer than ${line.spec.minSamples ?? 0} samples in ${tooFew} of ${tooFew + tally.windows} windows or stages`;
      return { state: 'inconclusive', remark };
    }
    if (tally.windows === 0) return { state: 'no_data', remark: 'there was nothing to judge' };
    if (blurred > 0) {
      const remark = 'some measurements came too late or too coarse to belong to a window';
      return { state: 'inconclusive', remark };
    }
    return { state: 'pass', remark: '' };
  }

  /** Why nothing certain can be said, whatever was measured. */
  #doubt({ line, boundUs }: Judged): string | null {
    if (line.info.late === true) return this.#ledgerDoubt;
    if (line.metric !== 'delivery_time') return null;
    if (this.#clockDoubt !== null) return this.#clockDoubt;
    const limits = line.parsed.terms.filter(({ literal }) => literal.kind === 'duration');
    if (limits.every(({ literal }) => literal.value >= 2 * boundUs)) return null;
    return `the clocks of its hosts agree to ± ${formatDuration(boundUs)}, and the limit is below twice of that`;
  }
}

/** The widest bound of the times in a slice that a line speaks of. */
function boundOf({ filter, info, scopes }: Line, { series }: Slice): number {
  if (info.kind !== 'time') return 0;
  let widest = 0;
  for (const one of series) {
    const boundUs = one.histogram?.boundUs ?? 0;
    if (boundUs > widest && scopes.has(one.stage) && filter.matches(one)) widest = boundUs;
  }
  return widest;
}

/** What stands in the place of a figure where there is none. */
function missingText(
  { spec, parsed }: Line,
  { state, outcome }: { readonly state: ThresholdState; readonly outcome: Outcome },
): string {
  const { fewest } = outcome;
  if (state === 'inconclusive' && fewest !== null) {
    return `${formatCount(fewest)} samples (min_samples: ${formatCount(spec.minSamples ?? 0)})`;
  }
  // Two lines of the same words may differ in just this.
  if (state === 'no_data' && spec.noData !== 'fail') return `no data (no_data: ${spec.noData})`;
  return state === 'no_data' && parsed.onBreach === 'warn' ? 'no data (a warning only)' : 'no data';
}
