import type { ClientRange } from './partition.ts';

/** Rows of a CSV file: those of a range of a group's clients, one a client, in their order. */
export interface GroupRows {
  /** Index of the first row's client, from 0. */
  readonly first: number;
  readonly rows: readonly (readonly string[])[];
}

/** The rows of those clients, of rows that have them all. */
export function rowsOf({ first, rows }: GroupRows, range: ClientRange): GroupRows {
  return { first: range.first, rows: rows.slice(range.first - first, range.last + 1 - first) };
}
