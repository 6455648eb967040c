import type { Unit } from '../numbers.ts';

/** Where values lie on an axis: 0 is its low end, 1 its high end. */
export interface Axis {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
  readonly logarithmic: boolean;
}

/** Ratio of the highest to the lowest positive value from which a time axis is logarithmic. */
const LOG_RATIO = 100;
const WANTED_TICKS = 4;
/** Above the highest mark: room for the names of stages, over a curve that lies on the mark. */
const HEADROOM = 0.1;
/** Of wider axes every second or third power of ten has a tick. */
const MAX_LOG_TICKS = 6;
const US_A_SECOND = 1_000_000;
const STEPS = [1, 2, 2.5, 5, 10];
/** Steps of an axis of the run's time, s. */
const TIME_STEPS_S = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600,
  43_200, 86_400,
];

/** From 0 (or the lowest negative value) to a round number above the highest. */
export function linearAxis(low: number, high: number): Axis {
  const from = Math.min(0, low);
  // A curve that stayed 0 has an axis all the same.
  const span = high > from ? high - from : 1;
  const step = roundStep(span / WANTED_TICKS);
  const first = Math.floor(from / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
  const [bottom, top] = [first * step, (last + (last - first) * HEADROOM) * step];
  return { at: (value) => (value - bottom) / (top - bottom), ticks, logarithmic: false };
}

/** Whole powers of ten around the values, which are above 0. */
export function logAxis(low: number, high: number): Axis {
  const bottom = Math.floor(Math.log10(Math.max(low, 1)));
  const top = Math.max(bottom + 1, Math.ceil(Math.log10(Math.max(high, 1))));
  const every = Math.ceil((top - bottom) / MAX_LOG_TICKS);
  const ticks: number[] = [];
  for (let power = bottom; power <= top; power += every) ticks.push(10 ** power);
  const span = (top - bottom) * (1 + HEADROOM);
  const at = (value: number) => (Math.log10(Math.max(value, 10 ** bottom)) - bottom) / span;
  return { at, ticks, logarithmic: true };
}

/** Times that differ a hundredfold are told apart on a logarithmic axis only. */
export function valueAxis(lowest: number, highest: number, unit: Unit): Axis {
  const wide = unit === 'us' && lowest > 0 && highest / lowest >= LOG_RATIO;
  return wide ? logAxis(lowest, highest) : linearAxis(lowest, highest);
}

/** The run's time from 0 to `endUs`. */
export function timeAxis(endUs: number, wanted: number): Axis {
  const endS = Math.max(endUs / US_A_SECOND, 0.1);
  const step = TIME_STEPS_S.find((one) => endS / one <= wanted) ?? roundStep(endS / wanted);
  const ticks: number[] = [];
  for (let at = 0; at * step <= endS; at++) ticks.push(at * step * US_A_SECOND);
  return { at: (us) => us / (endS * US_A_SECOND), ticks, logarithmic: false };
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return (STEPS.find((step) => step * power >= rough) ?? 10) * power;
}
