import { ledgerFigures, type LedgerResult, type LedgerRow } from '@squall/core/ledger';

/** A row in which nothing is amiss, but for what is said: `unique` and `received` follow from it. */
export function ledgerRow(said: Partial<LedgerRow>): LedgerRow {
  const zeros = ledgerFigures(() => 0);
  const figures = { ...zeros, ...said };
  const { expected, lost, duplicated, unresolvedArrived, unexpected, foreign, corrupted } = figures;
  const unique = expected - lost;
  const others = duplicated + unresolvedArrived + unexpected + foreign + corrupted;
  return {
    from: 'devices',
    to: 'readers',
    qos: 1,
    stage: 0,
    pairs: 4,
    ...zeros,
    unique,
    received: unique + others,
    unverifiablePairs: 0,
    unverifiableFrom: [],
    inexactPairs: 0,
    undecidedPairs: 0,
    examples: {},
    ...said,
  };
}

/** A result with these rows and nothing else, but for what is said. */
export function ledgerResult(
  rows: readonly LedgerRow[],
  said: Partial<LedgerResult> = {},
): LedgerResult {
  return {
    rows,
    outside: [],
    apart: { unstamped: 0, outside: 0, replayed: 0, untracked: 0 },
    sessionsLost: [],
    perSubscription: null,
    missing: [],
    ...said,
  };
}
