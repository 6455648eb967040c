/** Joins rows into lists of about `maxNumbers`; a row is never cut. */
export function* cut(
  rows: Iterable<readonly number[]>,
  maxNumbers: number,
): Generator<number[], void> {
  let page: number[] = [];
  for (const row of rows) {
    for (const number of row) page.push(number);
    if (page.length < maxNumbers) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
