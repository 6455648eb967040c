/** Curves of a chart at most: more cannot be told apart. */
export const MAX_CURVES = 6;

/** Dashes besides colours: curves are told apart in black and white, too. */
const DASHES = ['', '7 3', '2 3', '10 3 2 3', '5 2', '1 2'];

export function dashOf(curve: number): string {
  return DASHES[curve % DASHES.length] ?? '';
}
