import { SquallError } from '../errors/index.ts';
import { parseDuration, parseShare } from '../units/index.ts';
import { type Cursor, thresholdError } from './cursor.ts';
import type { Columns, ParsedThreshold } from './threshold.ts';

export type Modifiers = Pick<
  ParsedThreshold,
  'overUs' | 'forWindows' | 'stages' | 'slo' | 'onBreach' | 'afterUs'
> & { readonly columns: Omit<Columns, 'metric'> };

const WORD = /[a-z]+/y;
const VALUE = /[^\s,|]+/y;
const STAGE = /"[^"]+"|[^\s,|"]+/y;
const WORDS_HINT = 'what may follow: over 10s, for 3, in stage, slo 99%, abort, warn, after 30s';
const OVER_HINT = 'add a window, for example over 10s';
/** `in a|b|…` names at most this many stages. */
const MAX_STAGES = 100;

interface Draft {
  over: { readonly us: number; readonly column: number } | null;
  for: { readonly windows: number | null; readonly us: number; readonly column: number } | null;
  in: { readonly name: string; readonly column: number }[];
  slo: { readonly share: number; readonly column: number } | null;
  breach: { readonly kind: 'abort' | 'warn'; readonly column: number } | null;
  after: { readonly us: number; readonly column: number } | null;
}

/** Everything behind the comparison, in any order, each once. */
export function takeModifiers(cursor: Cursor): Modifiers {
  const draft: Draft = { over: null, for: null, in: [], slo: null, breach: null, after: null };
  const seen = new Set<string>();
  while (!cursor.done) {
    cursor.take(/,/y);
    cursor.skipSpace();
    const column = cursor.column;
    const word = cursor.need(WORD, 'a modifier', WORDS_HINT);
    const kind = word === 'warn' ? 'abort' : word;
    if (seen.has(kind)) {
      throw thresholdError(`"${word}" cannot be said twice (or abort and warn both)`, column);
    }
    seen.add(kind);
    takeModifier(cursor, { draft, word, column });
  }
  return finish(draft);
}

interface Place {
  readonly draft: Draft;
  readonly word: string;
  readonly column: number;
}

function takeModifier(cursor: Cursor, { draft, word, column }: Place): void {
  switch (word) {
    case 'over':
      draft.over = { us: takeDuration(cursor, 'a duration above 0 after over'), column };
      break;
    case 'for':
      draft.for = { ...takeFor(cursor), column };
      break;
    case 'in':
      draft.in = takeStages(cursor);
      break;
    case 'slo':
      draft.slo = { share: takeShare(cursor), column };
      break;
    case 'abort':
    case 'warn':
      draft.breach = { kind: word, column };
      break;
    case 'after':
      draft.after = { us: takeDuration(cursor, 'a duration above 0 after after'), column };
      break;
    default:
      throw thresholdError(`"${word}" is not known here`, column, WORDS_HINT);
  }
}

function finish(draft: Draft): Modifiers {
  const overUs = draft.over?.us ?? null;
  needWindows(draft);
  return {
    overUs,
    forWindows: windowsOf(draft.for, overUs),
    stages: draft.in.map((stage) => stage.name),
    slo: draft.slo?.share ?? null,
    onBreach: draft.breach?.kind ?? 'fail',
    afterUs: draft.after?.us ?? 0,
    columns: {
      over: draft.over?.column ?? null,
      stages: draft.in.map((stage) => stage.column),
      breach: draft.breach?.column ?? null,
      after: draft.after?.column ?? null,
    },
  };
}

/** A word that speaks of windows says nothing without them: better refused than ignored. */
function needWindows(draft: Draft): void {
  if (draft.over !== null) return;
  const needs: readonly (readonly [string, { readonly column: number } | null])[] = [
    ['for', draft.for],
    ['slo', draft.slo],
    ['after', draft.after],
    ['abort', draft.breach?.kind === 'abort' ? draft.breach : null],
  ];
  for (const [word, found] of needs) {
    if (found !== null) throw thresholdError(`"${word}" needs "over"`, found.column, OVER_HINT);
  }
}

function windowsOf(rows: Draft['for'], overUs: number | null): number {
  if (rows === null || overUs === null) return 1;
  return rows.windows ?? Math.ceil(rows.us / overUs);
}

function takeFor(cursor: Cursor): { windows: number | null; us: number } {
  cursor.skipSpace();
  const column = cursor.column;
  const text = cursor.need(VALUE, 'a number of windows or a duration after for');
  if (!/^\d+$/.test(text)) return { windows: null, us: duration(text, column) };
  const windows = Number(text);
  if (windows < 1 || !Number.isSafeInteger(windows)) {
    throw thresholdError('"for" counts windows from 1', column, 'for example for 3');
  }
  return { windows, us: 0 };
}

function takeStages(cursor: Cursor): Draft['in'] {
  const stages: Draft['in'] = [];
  do {
    cursor.skipSpace();
    const column = cursor.column;
    const name = cursor.need(STAGE, 'the name of a stage', 'for example in publish|peak');
    if (stages.length === MAX_STAGES) cursor.fail(`at most ${MAX_STAGES} stages can be named,`);
    stages.push({ name: name.replaceAll('"', ''), column });
  } while (cursor.take(/\|/y) !== null);
  return stages;
}

function takeShare(cursor: Cursor): number {
  cursor.skipSpace();
  const column = cursor.column;
  const text = cursor.need(VALUE, 'a share after slo', 'for example slo 99%');
  const share = unit(() => parseShare(text), column);
  if (share <= 0) throw thresholdError('slo must be above 0%', column, 'for example slo 99%');
  return share;
}

function takeDuration(cursor: Cursor, what: string): number {
  cursor.skipSpace();
  const column = cursor.column;
  return duration(cursor.need(VALUE, what), column);
}

function duration(text: string, column: number): number {
  const us = unit(() => parseDuration(text), column);
  if (us <= 0) throw thresholdError('the duration must be above 0', column);
  return us;
}

/** Errors of the units speak of the value; here they get their place in the line. */
function unit(read: () => number, column: number): number {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    throw thresholdError(error.message, column, error.hint);
  }
}
