/** A threshold line, taken apart. Whether its names exist and its units fit is `checkThreshold`'s. */
export interface ParsedThreshold {
  /** The line, as reports print it. */
  readonly text: string;
  readonly metric: string;
  readonly tags: readonly TagFilter[];
  /** One comparison, or two that must both hold. */
  readonly terms: readonly Term[];
  /** Length of the tumbling windows, or null: the whole stage. */
  readonly overUs: number | null;
  /** How many windows in a row must fail, ≥ 1. */
  readonly forWindows: number;
  /** Names from `in`; empty: every stage that is not `warmup`. */
  readonly stages: readonly string[];
  /** Share of the windows that must hold (0…1), or null: all. */
  readonly slo: number | null;
  /** What a breach does: `abort` ends the run at once, `warn` leaves the verdict alone. */
  readonly onBreach: 'fail' | 'abort' | 'warn';
  /** Windows that begin earlier in their stage are not judged. */
  readonly afterUs: number;
  readonly columns: Columns;
}

/** Where the parts of the line begin, from 1, for the errors of the check. */
export interface Columns {
  readonly metric: number;
  readonly over: number | null;
  readonly stages: readonly number[];
  readonly breach: number | null;
  readonly after: number | null;
}

export type TagOperator = '=' | '!=' | '=~';

export interface TagFilter {
  readonly key: string;
  readonly op: TagOperator;
  readonly value: string;
  readonly column: number;
}

export type AggregateKind =
  | 'p'
  | 'avg'
  | 'min'
  | 'max'
  | 'med'
  | 'count'
  | 'rate'
  | 'share'
  | 'value'
  | 'delta';

export type Comparison = '<' | '<=' | '>' | '>=' | '==' | '!=';

export interface Term {
  readonly aggregate: AggregateKind;
  /** Of `p(…)`: above 0, at most 100. Null for all others. */
  readonly percentile: number | null;
  readonly op: Comparison;
  readonly literal: Literal;
  /** Of the aggregate. */
  readonly column: number;
}

export type LiteralKind = 'count' | 'duration' | 'size' | 'rate' | 'byte_rate' | 'share';

/** A number with its unit, in the base unit: µs, bytes, things, a second, 0…1. */
export interface Literal {
  readonly kind: LiteralKind;
  readonly value: number;
  readonly text: string;
  readonly column: number;
}
