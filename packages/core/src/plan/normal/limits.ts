import { DEFAULT_MAX_DURATION_US, MAX_DURATION_MARGIN_US } from '../limits.ts';
import type { Bounds, GeneratorLimits, Limits, Stage } from '../plan.ts';
import type { LimitsFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';

type BoundsFile = LimitsFile['generator']['lateness'];

/** `measurement.md` 9. A limit of 0 is passed by anything at all. */
const GENERATOR_DEFAULTS: GeneratorLimits = {
  latenessP99Us: { degraded: 50_000, invalid: 500_000 },
  droppedShare: { degraded: 0.001, invalid: 0.01 },
  framesMissingShare: { degraded: 0, invalid: 0.001 },
  startSkewUs: { degraded: 100_000, invalid: 1_000_000 },
  histogramOverflow: { degraded: 0, invalid: null },
};

/** @param neededUs what the stages take by their own lengths and ramps, µs. */
export function normaliseLimits(
  limits: LimitsFile,
  options: {
    readonly neededUs: number;
    /** `--timeout`, µs, acts as `maxDuration`. */
    readonly timeoutUs: number | undefined;
    readonly context: NormalContext;
  },
): Limits {
  const { neededUs: needed, timeoutUs, context } = options;
  const maxDurationUs =
    timeoutUs ??
    limits.maxDuration ??
    Math.max(DEFAULT_MAX_DURATION_US, needed + MAX_DURATION_MARGIN_US);
  if (needed > maxDurationUs) {
    context.findings.warn(
      timeoutUs === undefined ? ['limits', 'maxDuration'] : ['stages'],
      `the stages take longer than ${timeoutUs === undefined ? 'maxDuration' : '--timeout'}: the run will be aborted`,
    );
  }
  const { generator } = limits;
  const bound = (key: keyof typeof generator, defaults: Bounds) =>
    normaliseBounds(generator[key], defaults);
  return {
    maxDurationUs,
    onAgentLoss: limits.onAgentLoss === 'degrade' ? 'degrade' : 'abort',
    agentGraceUs: limits.agentGrace,
    agents: {
      count: limits.agents.count ?? null,
      labels: Object.fromEntries(
        Object.entries(limits.agents.labels).map(([key, value]) => [key, String(value)]),
      ),
    },
    generator: {
      latenessP99Us: bound('lateness', GENERATOR_DEFAULTS.latenessP99Us),
      droppedShare: bound('dropped', GENERATOR_DEFAULTS.droppedShare),
      framesMissingShare: bound('framesMissing', GENERATOR_DEFAULTS.framesMissingShare),
      startSkewUs: bound('startSkew', GENERATOR_DEFAULTS.startSkewUs),
      histogramOverflow: bound('histogramOverflow', GENERATOR_DEFAULTS.histogramOverflow),
    },
  };
}

/** What the stages take at least, as far as the plan says it. */
export function neededUs(stages: readonly Stage[], rampsUs: readonly number[]): number {
  return stages.reduce((sum, stage, index) => sum + (stage.forUs ?? 0) + (rampsUs[index] ?? 0), 0);
}

function normaliseBounds(given: BoundsFile, defaults: Bounds): Bounds {
  return {
    degraded: normaliseBound(given.degraded, defaults.degraded),
    invalid: normaliseBound(given.invalid, defaults.invalid),
  };
}

function normaliseBound(
  given: number | 'off' | 'any' | undefined,
  fallback: number | null,
): number | null {
  if (given === undefined) return fallback;
  if (given === 'off') return null;
  return given === 'any' ? 0 : given;
}
