import type { Pace, PublishStream } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PaceFile } from '../schema/paces.ts';
import type { NormalContext } from './context.ts';

const WORDS = ['every', 'rate', 'ramp', 'steps', 'spike'] as const;
type Word = (typeof WORDS)[number];

interface Place {
  readonly path: PlanPath;
  readonly context: NormalContext;
  /** Length of the stage, µs, for a ramp that names none; null where there is none. */
  readonly stageUs: number | null;
}

/** The words of a pace that are given. */
export function paceWordsOf(file: PaceFile): Word[] {
  return WORDS.filter((word) => file[word] !== undefined);
}

/** The one pace that is given; null, and an error, where it is not exactly one. */
export function normalisePace(file: PaceFile, place: Place): Pace | null {
  const { path, context } = place;
  const given = paceWordsOf(file);
  const [word, other] = given;
  if (word === undefined) {
    context.findings.error(path, 'how often to publish is missing', {
      hint: 'write every: 1s (a client), rate: 500/s (the whole group) or rate: max',
    });
    return null;
  }
  if (other !== undefined) {
    context.findings.error([...path, other], `${word} and ${other} cannot both be given`, {
      atKey: true,
    });
    return null;
  }
  const at = { ...place, path: [...path, word] };
  const pace = evenPace(file, at) ?? shapedPace(file, at);
  if (pace !== null && !hasMessages(pace)) {
    context.findings.error(at.path, `this ${word} has no rate above 0`, {
      hint: 'a group that is to send nothing is left out of run',
    });
  }
  return pace;
}

function evenPace({ every, rate }: PaceFile, { path, context }: Place): Pace | null {
  if (every !== undefined) return { kind: 'every', everyUs: every };
  if (rate === 'max') return { kind: 'max' };
  return rate === undefined ? null : { kind: 'rate', perS: context.scaler.rate(path, rate) };
}

function shapedPace({ ramp, steps, spike }: PaceFile, { path, context, stageUs }: Place) {
  const scaled = (key: string | number, perS: number): number =>
    context.scaler.rate(typeof key === 'number' ? [...path, key, 'rate'] : [...path, key], perS);
  if (steps !== undefined) {
    const each = steps.map((step, k) => ({ perS: scaled(k, step.rate), forUs: step.for }));
    return { kind: 'steps', steps: each } satisfies Pace;
  }
  if (spike !== undefined) {
    return {
      kind: 'spike',
      basePerS: scaled('base', spike.base),
      peakPerS: scaled('peak', spike.peak),
      atUs: spike.at,
      forUs: spike.for,
    } satisfies Pace;
  }
  if (ramp === undefined) return null;
  const overUs = ramp.over ?? stageUs;
  if (overUs === null) {
    context.findings.error(path, 'how long the ramp takes is missing', {
      hint: 'write over: 5m; only a ramp in a stage with for takes the length of its stage',
    });
  }
  return {
    kind: 'ramp',
    fromPerS: scaled('from', ramp.from),
    toPerS: scaled('to', ramp.to),
    overUs: overUs ?? 1,
  } satisfies Pace;
}

function hasMessages(pace: Pace): boolean {
  switch (pace.kind) {
    case 'ramp':
      return pace.fromPerS > 0 || pace.toPerS > 0;
    case 'steps':
      return pace.steps.some(({ perS }) => perS > 0);
    case 'spike':
      return pace.basePerS > 0 || pace.peakPerS > 0;
    case 'every':
    case 'rate':
    case 'max':
      return true;
  }
}

/** µs until a pace has gone through its shape; 0 where it has none. */
export function shapeUs(pace: Pace): number {
  switch (pace.kind) {
    case 'ramp':
      return pace.overUs;
    case 'steps':
      return pace.steps.reduce((sum, { forUs }) => sum + forUs, 0);
    case 'spike':
      return pace.atUs + pace.forUs;
    case 'every':
    case 'rate':
    case 'max':
      return 0;
  }
}

/** What a pace that changes comes to at its end, a second; null for any other. */
export function endPerS(pace: Pace): number | null {
  switch (pace.kind) {
    case 'ramp':
      return pace.toPerS;
    case 'steps':
      return pace.steps.at(-1)?.perS ?? 0;
    case 'spike':
      return pace.basePerS;
    case 'every':
    case 'rate':
    case 'max':
      return null;
  }
}

/** What is spread must have due times, and by one rule. */
export function checkSpacing(
  { arrivals, phase }: Pick<PublishStream, 'arrivals' | 'phase'>,
  pace: Pace,
  { path, context }: Pick<Place, 'path' | 'context'>,
): void {
  if (arrivals === 'even' && phase === 'even') return;
  if (pace.kind === 'max') {
    context.findings.error(path, 'a closed loop (rate: max) has no arrivals to spread', {
      hint: 'leave arrivals and phase out of the stream, or give it a pace',
    });
  } else if (arrivals === 'poisson' && phase === 'random') {
    context.findings.error([...path, 'phase'], 'poisson arrivals have no phase', { atKey: true });
  }
}
