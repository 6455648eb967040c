import type { Accumulator } from './accumulator.ts';
import type { Comparison, ParsedThreshold, Term } from './threshold.ts';

/** One window or stage, held against the terms. */
export interface Finding {
  readonly holds: boolean;
  /** Value of each term. */
  readonly values: readonly number[];
  /** Of the term that decides: the first that does not hold, else the first. */
  readonly value: number;
  /** How far from holding, relative to the literal: the greater, the worse. */
  readonly badness: number;
}

/** Null where there is no data. */
export function judgeValues(
  parsed: ParsedThreshold,
  accumulator: Accumulator,
  durationUs: number,
): Finding | null {
  const values: number[] = [];
  for (const term of parsed.terms) {
    const value = accumulator.observe(term, durationUs);
    if (value === null) return null;
    values.push(value);
  }
  return findingOf(parsed.terms, values);
}

export function findingOf(terms: readonly Term[], values: readonly number[]): Finding {
  const judged = terms.map((term, index) => {
    const value = values[index] ?? 0;
    return {
      value,
      holds: compare(value, term.op, term.literal.value),
      badness: badness(value, term),
    };
  });
  const failing = judged.find((term) => !term.holds);
  return {
    holds: failing === undefined,
    values,
    value: (failing ?? judged[0])?.value ?? 0,
    badness: Math.max(...judged.map((term) => term.badness)),
  };
}

/** Of two findings the one to show: a failed one before one that held, then the farther one. */
export function isWorse(a: Finding, b: Finding): boolean {
  return a.holds === b.holds ? a.badness > b.badness : b.holds;
}

/** Asks for more, not for less: nothing counted is then a failure and not a comfort. */
export function asksForMore(parsed: ParsedThreshold): boolean {
  return parsed.terms.some((term) => term.op === '>' || term.op === '>=');
}

function compare(value: number, op: Comparison, literal: number): boolean {
  switch (op) {
    case '<':
      return value < literal;
    case '<=':
      return value <= literal;
    case '>':
      return value > literal;
    case '>=':
      return value >= literal;
    case '==':
      return value === literal;
    case '!=':
      return value !== literal;
  }
}

function badness(value: number, { op, literal }: Term): number {
  const off = value - literal.value;
  const size = Math.abs(literal.value) || 1;
  switch (op) {
    case '<':
    case '<=':
      return off / size;
    case '>':
    case '>=':
      return -off / size;
    case '==':
      return Math.abs(off) / size;
    case '!=':
      return -Math.abs(off) / size;
  }
}
