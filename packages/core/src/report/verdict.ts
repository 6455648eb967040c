import type { LedgerJudgement } from '../ledger/judgement.ts';
import type { ThresholdResult } from '../thresholds/result.ts';
import { generatorShare } from './generator-share.ts';
import type { GeneratorFacts } from './generator-watch.ts';
import type { RunOutcome } from './input.ts';
import type { ValidityState, Verdict } from './model.ts';
import type { Validity } from './validity.ts';

/** `plan-language.md` 6. */
export const EXIT_CODES = {
  ok: 0,
  error: 1,
  usage: 2,
  fail: 99,
  cancelledByApi: 103,
  planInvalid: 104,
  cancelledBySignal: 105,
  invalid: 111,
  inconclusive: 112,
  agents: 113,
  waitTimedOut: 114,
} as const;

/** Lines of reasons before the rest is only counted. */
const MAX_REASONS = 20;

export interface VerdictInput {
  readonly outcome: RunOutcome;
  readonly validity: Validity;
  readonly thresholds: readonly ThresholdResult[];
  /** What should have happened and never did, one sentence each: nothing was tested there. */
  readonly emptiness: readonly string[];
  /** From `judgeLedger()`. */
  readonly ledger?: Pick<LedgerJudgement, 'failures' | 'inconclusive'>;
  /** What the generator says about itself. */
  readonly generator: GeneratorFacts;
  readonly strict: boolean;
}

export interface Decision {
  readonly verdict: Verdict;
  readonly exitCode: number;
  /** Why, most important first. Never empty. */
  readonly reasons: string[];
}

/**
 * The verdict: the first line of the table that fits. The exit code follows from it and from the
 * validity. What passed under a generator that is not valid has not passed: it is inconclusive.
 */
export function decide(input: VerdictInput): Decision {
  const { outcome, validity, strict } = input;
  const judged = judgedVerdict(input);
  const verdict = outcomeVerdict(outcome) ?? withValidity(judged.verdict, validity.state);
  const exitCode = exitCodeFor(verdict, { outcome, validity: validity.state, strict });
  const reasons = [
    ...('reasons' in outcome ? outcome.reasons : []),
    ...(verdict === 'fail' ? [] : validityReasons(input)),
    ...judged.reasons,
    ...(verdict === 'fail' ? validityReasons(input) : []),
  ];
  const told = [...new Set(reasons)];
  if (told.length === 0) told.push(plainReason(input, verdict));
  const shown = told.slice(0, MAX_REASONS);
  if (told.length > shown.length) shown.push(`and ${told.length - shown.length} more reasons`);
  return { verdict, exitCode, reasons: shown };
}

/** The exit code of a run that has a report. */
function exitCodeFor(
  verdict: Verdict,
  {
    outcome,
    validity,
    strict,
  }: {
    readonly outcome: RunOutcome;
    readonly validity: ValidityState;
    readonly strict: boolean;
  },
): number {
  switch (verdict) {
    case 'error':
      return outcome.kind === 'agents' ? EXIT_CODES.agents : EXIT_CODES.error;
    case 'cancelled':
      return outcome.kind === 'cancelled' && outcome.by === 'api'
        ? EXIT_CODES.cancelledByApi
        : EXIT_CODES.cancelledBySignal;
    case 'aborted':
      return EXIT_CODES.invalid;
    case 'fail':
    case 'inconclusive':
    case 'pass':
      return judgedExitCode(verdict, validity, strict);
  }
}

function judgedExitCode(
  verdict: 'fail' | 'inconclusive' | 'pass',
  validity: ValidityState,
  strict: boolean,
): number {
  if (validity === 'invalid') return EXIT_CODES.invalid;
  if (verdict === 'fail') return EXIT_CODES.fail;
  if (verdict === 'inconclusive') return EXIT_CODES.inconclusive;
  return strict && validity === 'degraded' ? EXIT_CODES.invalid : EXIT_CODES.ok;
}

function outcomeVerdict(outcome: RunOutcome): Verdict | null {
  switch (outcome.kind) {
    case 'error':
    case 'agents':
      return 'error';
    case 'cancelled':
    case 'aborted':
      return outcome.kind;
    case 'completed':
    case 'threshold':
      return null;
  }
}

function withValidity(verdict: 'fail' | 'inconclusive' | 'pass', validity: ValidityState): Verdict {
  return validity === 'invalid' && verdict === 'pass' ? 'inconclusive' : verdict;
}

interface Judged {
  readonly verdict: 'fail' | 'inconclusive' | 'pass';
  readonly reasons: readonly string[];
}

function judgedVerdict(input: VerdictInput): Judged {
  const { thresholds, emptiness, ledger, outcome, generator } = input;
  const reasonsOf = (one: ThresholdResult) => {
    // The one that ended the run is the first reason already.
    const told = one.aborted && outcome.kind === 'threshold';
    const share = generatorShare(one, generator);
    return [...(told ? [] : [thresholdReason(one)]), ...(share === null ? [] : [share])];
  };
  const failed = thresholds
    .filter((one) => one.leadsTo === 'fail')
    .flatMap(reasonsOf)
    .concat(ledger?.failures ?? []);
  const open = thresholds
    .filter((one) => one.leadsTo === 'inconclusive')
    .map(thresholdReason)
    .concat(ledger?.inconclusive ?? []);
  const warned = thresholds.filter((one) => one.leadsTo === 'warn').flatMap(reasonsOf);
  // A run that a threshold ended has failed, whatever the results say of it.
  if (failed.length > 0 || outcome.kind === 'threshold') {
    return { verdict: 'fail', reasons: [...failed, ...emptiness, ...open, ...warned] };
  }
  if (open.length + emptiness.length > 0) {
    return { verdict: 'inconclusive', reasons: [...emptiness, ...open, ...warned] };
  }
  const good = thresholds.filter((one) => one.leadsTo === 'pass').length;
  const rest = warned.length > 0 && good > 0 ? [othersHold(good)] : [];
  return { verdict: 'pass', reasons: [...rest, ...warned] };
}

function othersHold(count: number): string {
  return count === 1 ? 'the other threshold holds' : `all ${count} other thresholds hold`;
}

/** One plain sentence. */
export function thresholdReason(result: Omit<ThresholdResult, 'worst'>): string {
  const { text, state, observedText, windows, failedWindows, remark } = result;
  const because = remark === '' ? '' : ` (${remark})`;
  switch (state) {
    case 'no_data':
      return `threshold "${text}" has no data${because}`;
    case 'inconclusive':
      return `threshold "${text}" is inconclusive${because}`;
    case 'pass':
      return `threshold "${text}" holds: ${observedText}`;
    case 'warn':
    case 'fail': {
      const rows = windows > 1 ? `, ${failedWindows} of ${windows} windows did not hold` : '';
      const mild = state === 'warn' ? ' (a warning only)' : because;
      return `threshold "${text}" does not hold: ${observedText}${rows}${mild}`;
    }
  }
}

function validityReasons({ validity, strict }: VerdictInput): string[] {
  if (validity.state === 'valid') return [];
  const harm = validity.findings.filter((finding) => finding.state === validity.state);
  const what =
    validity.state === 'invalid'
      ? 'the generator was not healthy, so its figures cannot be believed'
      : `the generator was not quite healthy${strict ? ', which --strict does not accept' : ''}`;
  return harm.map(({ hint, agent }) => {
    const who = agent === undefined ? '' : `${agent}: `;
    return `${what}: ${who}${hint}`;
  });
}

function plainReason({ thresholds }: VerdictInput, verdict: Verdict): string {
  if (verdict !== 'pass') return `the run ended as ${verdict}`;
  if (thresholds.length === 0)
    return 'the plan has no thresholds: nothing but the generator was judged';
  return thresholds.length === 1
    ? 'the threshold holds'
    : `all ${thresholds.length} thresholds hold`;
}
