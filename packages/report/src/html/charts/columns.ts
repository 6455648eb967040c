/** Columns of a chart at most: about one for every second pixel of a wide page. */
const MAX_COLUMNS = 360;

/** What a column of a chart shows of one curve; null: nothing was measured in it. */
export type Column = readonly [low: number, high: number] | null;

export interface Columns {
  /** Steps of the time line that are one column. */
  readonly steps: number;
  readonly count: number;
}

/** How many steps a column has to take for all of them to fit. */
export function columnsFor(length: number, limit = MAX_COLUMNS): Columns {
  const steps = Math.max(1, Math.ceil(length / limit));
  return { steps, count: Math.ceil(length / steps) };
}

/** The lowest and highest value of each column: an outlier is never thinned out. */
export function envelope(values: readonly (number | null)[], { steps, count }: Columns): Column[] {
  return Array.from({ length: count }, (_, column) => {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values.slice(column * steps, (column + 1) * steps)) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    return low > high ? null : [low, high];
  });
}
