import { SquallError } from '../errors/index.ts';
import {
  parseByteRate,
  parseCount,
  parseDuration,
  parseRate,
  parseShare,
  parseSize,
} from '../units/index.ts';
import { type Cursor, thresholdError } from './cursor.ts';
import type { Literal, LiteralKind } from './threshold.ts';

const SHAPE = /-?[\d.]+[\p{L}µ%]*(?:\d+[\p{L}µ]+)*(?:\/[A-Za-z]*)?/uy;

/**
 * What a number with a unit looks like tells what it is. A lower-case `m` is a minute, an upper-case
 * `M` a million, so no text has two meanings.
 */
const KINDS: readonly (readonly [LiteralKind, RegExp, (text: string) => number])[] = [
  ['share', /%$/, parseShare],
  ['byte_rate', /i?B\//, parseByteRate],
  ['rate', /\//, parseRate],
  ['size', /B$/, parseSize],
  ['duration', /(?:s|m|h)$/, parseDuration],
  ['count', /./, parseCount],
];

/** Reads a number with its unit. @throws SquallError SQ_THRESHOLD */
export function takeLiteral(cursor: Cursor): Literal {
  cursor.skipSpace();
  const column = cursor.column;
  const text = cursor.need(SHAPE, 'a number', 'for example 500ms, 0, 28k/s, 100GB or 0.1%');
  return { ...literalOf(text, column), text, column };
}

function literalOf(text: string, column: number): Pick<Literal, 'kind' | 'value'> {
  const digits = text.startsWith('-') ? text.slice(1) : text;
  for (const [kind, shape, parse] of KINDS) {
    if (!shape.test(digits)) continue;
    const value = valueOf(kind, digits, { column, parse });
    return { kind, value: digits === text ? value : -value };
  }
  throw thresholdError(`"${text}" is not a number`, column);
}

function valueOf(
  kind: LiteralKind,
  digits: string,
  { column, parse }: { readonly column: number; readonly parse: (text: string) => number },
): number {
  // Bare fractions are fit for gauges, which may be averaged: the check decides, not the reader.
  if (kind === 'count' && /^\d+\.\d+$/.test(digits)) return Number(digits);
  try {
    return parse(digits);
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    throw thresholdError(error.message, column, error.hint);
  }
}
