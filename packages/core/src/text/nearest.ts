/** Words longer than this are not compared: no name is. */
const MAX_LENGTH = 64;

/** The known word that is nearest to a mistyped one, or null where none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  if (word.length > MAX_LENGTH) return null;
  let best: string | null = null;
  // A third of the letters may be wrong, two in any word of four or more, one in shorter ones.
  const most = Math.max(word.length < 4 ? 1 : 2, Math.floor(word.length / 3));
  let bestDistance = most + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < Math.min(bestDistance, word.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein's distance, row by row. */
function editDistance(left: string, right: string): number {
  let before = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (before[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      row.push(Math.min(change, (before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    before = row;
  }
  return before[right.length] ?? 0;
}
