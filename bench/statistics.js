// The few statistics that a ratio needs.

/** Middle value; of an even number the mean of the two in the middle. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `median [smallest … largest]`, to the given number of decimals. */
export function spread(values, decimals = 2) {
  const text = (value) => value.toFixed(decimals);
  return `${text(median(values))} [${text(Math.min(...values))} … ${text(Math.max(...values))}]`;
}
