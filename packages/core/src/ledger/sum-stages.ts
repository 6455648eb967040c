import { MAX_EXAMPLES } from '../metrics/frame.ts';
import { type LedgerExample, ledgerFigures, type LedgerRow } from './row.ts';

/** Rows of several stages as one a (from, to, qos); its `stage` is the first of them. */
export function sumStages(rows: readonly LedgerRow[]): LedgerRow[] {
  const sums = new Map<string, LedgerRow>();
  for (const row of rows) {
    const key = `${row.from}\n${row.to}\n${row.qos}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? row : addRows(sum, row));
  }
  return [...sums.values()];
}

function addRows(a: LedgerRow, b: LedgerRow): LedgerRow {
  return {
    from: a.from,
    to: a.to,
    qos: a.qos,
    stage: Math.min(a.stage, b.stage),
    // A pair that went on through several stages is one pair.
    pairs: Math.max(a.pairs, b.pairs),
    ...ledgerFigures((figure) => a[figure] + b[figure]),
    unverifiablePairs: Math.max(a.unverifiablePairs, b.unverifiablePairs),
    unverifiableFrom: [...new Set([...a.unverifiableFrom, ...b.unverifiableFrom])].toSorted(),
    inexactPairs: a.inexactPairs + b.inexactPairs,
    undecidedPairs: a.undecidedPairs + b.undecidedPairs,
    examples: addExamples(a.examples, b.examples),
  };
}

function addExamples(
  a: LedgerRow['examples'],
  b: LedgerRow['examples'],
): Record<string, readonly LedgerExample[]> {
  const sum: Record<string, readonly LedgerExample[]> = { ...a };
  for (const [kind, list] of Object.entries(b)) {
    sum[kind] = [...(a[kind] ?? []), ...list].slice(0, MAX_EXAMPLES);
  }
  return sum;
}
