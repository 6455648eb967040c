import type { SeriesDelta } from '../metrics/frame.ts';
import type { LedgerRow } from './row.ts';

const METRICS = ['expected', 'lost', 'duplicated', 'reordered'] as const;

/**
 * The ledger as series for thresholds, which know its figures only when a run is over: a counter a
 * metric, receiving subject, stage and QoS. One that is 0 is there, too: nothing lost is data. What is
 * corrupted is not among them: workers count that as it comes, in their frames.
 */
export function ledgerSeries(rows: readonly LedgerRow[]): SeriesDelta[] {
  const sums = new Map<string, { row: LedgerRow; values: number[] }>();
  for (const row of rows) {
    const key = `${row.to}\n${row.stage}\n${row.qos}`;
    const sum = sums.get(key) ?? { row, values: METRICS.map(() => 0) };
    sum.values = METRICS.map((metric, k) => (sum.values[k] ?? 0) + row[metric]);
    sums.set(key, sum);
  }
  return [...sums.values()].flatMap(({ row, values }) =>
    METRICS.map((metric, k) => ({
      metric,
      subject: row.to,
      stage: row.stage,
      qos: qosOf(row),
      value: values[k] ?? 0,
    })),
  );
}

function qosOf({ qos }: LedgerRow): 0 | 1 | 2 {
  return qos === 0 ? 0 : qos === 1 ? 1 : 2;
}
