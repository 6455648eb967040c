import { parseThreshold } from './parse.ts';
import type { Literal, Term } from './threshold.ts';

const SIGNIFICANT_DIGITS = 12;

export interface ScaledThreshold {
  readonly text: string;
  readonly changed: boolean;
}

/**
 * The line for a plan that runs at `factor` of its size: literals of `rate`, and of `count` where
 * they are not 0, are multiplied; shares, times and everything else stay. Counts are rounded up to
 * at least 1, as clients are.
 *
 * @throws SquallError SQ_THRESHOLD when the line cannot be parsed.
 */
export function scaleThreshold(text: string, factor: number): ScaledThreshold {
  const { terms } = parseThreshold(text);
  let scaled = text;
  // From the right, so that the columns of what is still to come stay true.
  for (const term of terms.toReversed()) {
    const literal = scaleLiteral(term, factor);
    if (literal === null) continue;
    const from = term.literal.column - 1;
    scaled = scaled.slice(0, from) + literal + scaled.slice(from + term.literal.text.length);
  }
  return { text: scaled, changed: scaled !== text };
}

function scaleLiteral({ aggregate, literal }: Term, factor: number): string | null {
  if (aggregate === 'rate') return withUnit(literal, factor);
  if (aggregate !== 'count' || literal.value === 0) return null;
  const count = Math.max(1, Math.ceil(exact(literal.value * factor)));
  return literal.kind === 'size' ? `${count}B` : String(count);
}

/** The number is scaled and its unit kept: `28k/s` at 0.01 is `0.28k/s`. */
function withUnit({ text }: Literal, factor: number): string {
  const digits = /^-?[\d.]+/.exec(text)?.[0] ?? '';
  return plain(exact(Number(digits) * factor)) + text.slice(digits.length);
}

/** Without the tail that binary fractions leave: 0.07 × 100 is 7. */
function exact(value: number): number {
  return Number(value.toPrecision(SIGNIFICANT_DIGITS));
}

/** Units are read without exponents. */
function plain(value: number): string {
  return Math.abs(value) >= 1e-6 || value === 0
    ? String(value)
    : value.toFixed(20).replace(/0+$/, '');
}
