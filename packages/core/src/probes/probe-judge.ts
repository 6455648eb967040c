import type { Plan, ThresholdSpec } from '../plan/plan.ts';
import { findingOf } from '../thresholds/finding.ts';
import { parseThreshold } from '../thresholds/parse.ts';
import { type AbortDecision, abortDecision, leadsTo, worstOf } from '../thresholds/result-parts.ts';
import type { ThresholdResult } from '../thresholds/result.ts';
import { Tally, type TallyState } from '../thresholds/tally.ts';
import type { ParsedThreshold } from '../thresholds/threshold.ts';
import { expectedText, observedText } from '../thresholds/wording.ts';
import { isProbeLine } from './check-line.ts';
import type { ProbeReading } from './probe-book.ts';
import { type FigureReference, findFigure, isFigure } from './reference.ts';
import { observe, type Sample, thinnedSamples } from './observe.ts';
import { unitOf } from './threshold-unit.ts';

/** Samples of one window, or of a stage or a run that is judged as a whole; beyond it they are thinned. */
const MAX_SAMPLES = 5_000;

/** Where a reading fell. `sinceUs`: since the stage's clock. */
export interface StagePlace {
  readonly stage: number;
  readonly sinceUs: number;
}

/** The window, stage or run whose samples are still coming. */
interface OpenSpan {
  /** Null: the whole run. */
  readonly stage: number | null;
  readonly window: number;
  readonly samples: Sample[];
}

export interface ProbeJudgeState {
  readonly lines: readonly {
    readonly tally: TallyState;
    readonly open: OpenSpan | null;
    /** The newest sample before the open span. */
    readonly before: Sample | null;
    readonly leftOut: number;
    readonly aborted: boolean;
  }[];
}

interface Line {
  /** In the plan's list of thresholds. */
  readonly index: number;
  readonly spec: ThresholdSpec;
  readonly parsed: ParsedThreshold;
  readonly figure: FigureReference;
  /** Stages that it is judged in, by index; null: the run as a whole. */
  readonly stages: ReadonlySet<number> | null;
  readonly tally: Tally;
  open: OpenSpan | null;
  before: Sample | null;
  leftOut: number;
  aborted: boolean;
}

/**
 * Judges the thresholds that speak of probes. A line with `over` is judged in windows of its stages, one
 * with `in` stage by stage, any other over all readings of the run, from the one before the load to the
 * last one in settle.
 */
export class ProbeJudge {
  readonly #plan: Plan;
  readonly #lines: readonly Line[];

  constructor(plan: Plan, state?: ProbeJudgeState) {
    this.#plan = plan;
    const specs = plan.thresholds.flatMap((spec, index) =>
      isProbeLine(spec, plan) ? [{ spec, index }] : [],
    );
    this.#lines = specs.map(({ spec, index }, position) =>
      lineOf({ spec, index, plan, known: state?.lines[position] }),
    );
  }

  toJSON(): ProbeJudgeState {
    return {
      lines: this.#lines.map(({ tally, open, before, leftOut, aborted }) => ({
        tally: tally.toJSON(),
        open,
        before,
        leftOut,
        aborted,
      })),
    };
  }

  /** Takes a reading; `place` is null where no stage's clock runs. */
  add({ probe, atUs, figures }: ProbeReading, place: StagePlace | null): void {
    for (const line of this.#lines) {
      if (line.figure.probe !== probe) continue;
      const value = figures.get(line.figure.figure)?.value;
      if (value !== undefined) this.#take(line, { atUs, value }, place);
    }
  }

  /** A threshold with `abort` that is broken by now; told once each. */
  broken(): AbortDecision | null {
    for (const line of this.#lines) {
      if (line.parsed.onBreach !== 'abort' || line.aborted) continue;
      if (!line.tally.breached(line.parsed.slo)) continue;
      line.aborted = true;
      return abortDecision(line.spec.text, observedOf(line, line.tally));
    }
    return null;
  }

  /** Results by the threshold's place in the plan, as they are with the readings so far. */
  results(): ReadonlyMap<number, ThresholdResult> {
    return new Map(this.#lines.map((line) => [line.index, this.#result(line)]));
  }

  #take(line: Line, sample: Sample, place: StagePlace | null): void {
    const at = spanAt(line, place);
    const { open } = line;
    if (open !== null && (at === null || open.stage !== at.stage || open.window !== at.window)) {
      this.#close(line, open);
      line.open = null;
    }
    if (at !== null && !isBefore(line, at.window)) {
      line.open ??= {
        ...at,
        samples: line.before === null ? [] : [{ ...line.before, before: true }],
      };
      line.open.samples.push(sample);
      if (line.open.samples.length > MAX_SAMPLES) thin(line, line.open);
    }
    line.before = sample;
  }

  #close(line: Line, open: OpenSpan): void {
    const span = this.#judge(line, open);
    if (span === null) return;
    line.tally.add(span);
  }

  #judge({ parsed, figure }: Line, { stage, samples }: OpenSpan) {
    const values = parsed.terms.map((term) => observe(term, samples, figure.info));
    const known = values.filter((value) => value !== null);
    if (known.length < parsed.terms.length) return null;
    const own = samples.filter((sample) => sample.before !== true);
    return {
      stage: stage === null ? 'the run' : (this.#plan.stages[stage]?.name ?? `stage ${stage}`),
      fromUs: samples[0]?.atUs ?? 0,
      toUs: own.at(-1)?.atUs ?? 0,
      finding: findingOf(parsed.terms, known),
    };
  }

  #result(line: Line): ThresholdResult {
    const { spec, parsed, figure } = line;
    const tally = line.tally.copy();
    const last = line.open === null ? null : this.#judge(line, line.open);
    if (last !== null) tally.add(last);
    const { state, remark } = stateOf(line, tally);
    return {
      id: spec.id,
      text: spec.text,
      state,
      leadsTo: leadsTo(state, { noData: spec.noData, mild: parsed.onBreach === 'warn' }),
      expected: expectedText(parsed),
      observed: tally.worst?.finding.value ?? null,
      unit: unitOf(parsed.terms[0], figure.info),
      observedText: observedOf(line, tally),
      worst: worstOf(tally),
      windows: tally.windows,
      failedWindows: tally.failedWindows,
      partialWindows: 0,
      aborted: line.aborted,
      remark,
    };
  }
}

/** `max = 81.4%`. */
function observedOf({ parsed, figure }: Line, { worst }: Tally): string {
  if (worst === null) return 'no data';
  return observedText(parsed.terms, worst.finding, (term) => unitOf(term, figure.info));
}

function thin(line: Line, open: OpenSpan): void {
  const { length } = open.samples;
  open.samples.splice(0, length, ...thinnedSamples(open.samples, line.figure.info.kind));
  line.leftOut += length - open.samples.length;
}

/** The span that a reading belongs to; null: none that is judged. */
function spanAt({ stages, parsed }: Line, place: StagePlace | null) {
  if (stages === null) return { stage: null, window: 0 };
  if (place === null || !stages.has(place.stage)) return null;
  const { overUs } = parsed;
  return {
    stage: place.stage,
    window: overUs === null ? 0 : Math.floor(place.sinceUs / overUs),
  };
}

/** Windows that begin before `after` are not judged. */
function isBefore({ parsed: { overUs, afterUs } }: Line, window: number): boolean {
  return overUs !== null && window * overUs < afterUs;
}

function stateOf(
  line: Line,
  tally: Tally,
): { readonly state: 'pass' | 'fail' | 'warn' | 'no_data'; readonly remark: string } {
  const { parsed } = line;
  if (line.aborted) return { state: 'fail', remark: 'it ended the run' };
  if (tally.breached(parsed.slo)) {
    return { state: parsed.onBreach === 'warn' ? 'warn' : 'fail', remark: '' };
  }
  if (tally.windows === 0) return { state: 'no_data', remark: 'the probe gave no reading there' };
  const remark =
    line.leftOut === 0
      ? ''
      : `${line.leftOut} readings were more than are kept: means and percentiles stand on the others`;
  return { state: 'pass', remark };
}

function lineOf({
  spec,
  index,
  plan,
  known,
}: {
  readonly spec: ThresholdSpec;
  readonly index: number;
  readonly plan: Plan;
  readonly known: ProbeJudgeState['lines'][number] | undefined;
}): Line {
  const parsed = parseThreshold(spec.text);
  const found = findFigure(parsed.metric, plan.probes);
  if (found === null || !isFigure(found)) throw new Error(`${parsed.metric} was not checked`);
  return {
    index,
    spec,
    parsed,
    figure: found,
    stages: stagesOf(parsed, plan),
    tally: new Tally(parsed.forWindows, known?.tally),
    open: known?.open ?? null,
    before: known?.before ?? null,
    leftOut: known?.leftOut ?? 0,
    aborted: known?.aborted ?? false,
  };
}

function stagesOf(parsed: ParsedThreshold, plan: Plan): ReadonlySet<number> | null {
  if (parsed.overUs === null && parsed.stages.length === 0) return null;
  const named = plan.stages.filter((stage) =>
    parsed.stages.length === 0 ? !stage.warmup : parsed.stages.includes(stage.name),
  );
  return new Set(named.map((stage) => stage.index));
}
