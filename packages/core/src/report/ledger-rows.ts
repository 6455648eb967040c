import { judgeRow } from '../ledger/judgement.ts';
import {
  type LedgerExample,
  ledgerFigures,
  type LedgerResult,
  type LedgerRow,
} from '../ledger/row.ts';
import { sumStages } from '../ledger/sum-stages.ts';
import type { Plan } from '../plan/plan.ts';
import type { Report } from './model.ts';

type Row = Report['ledger'][number];

interface Scene {
  readonly plan: Plan;
  /** µs on the run's timeline → UTC. */
  readonly at: (us: number) => string;
}

/** The ledger as the report shows it: stages added up, each row judged, moments in UTC. */
export function ledgerRows(
  ledger: LedgerResult | undefined,
  { plan, at }: Scene,
): Report['ledger'] {
  const rows = ledger?.rows ?? [];
  const judged = sumStages(rows.filter(({ stage }) => plan.stages[stage]?.warmup !== true));
  return sumStages(rows).map((row) => {
    const own = judged.find((one) => isSame(one, row));
    return { ...rowOf(row, at), ...stateOf(own) };
  });
}

function stateOf(row: LedgerRow | undefined): Pick<Row, 'state' | 'remark'> {
  if (row === undefined) return { state: 'pass', remark: 'warm-up only, not judged' };
  const { failures, doubts } = judgeRow(row);
  if (failures.length > 0) return { state: 'fail', remark: [...failures, ...doubts].join('; ') };
  if (doubts.length > 0) return { state: 'inconclusive', remark: doubts.join('; ') };
  return { state: 'pass', remark: '' };
}

function isSame(a: LedgerRow, b: LedgerRow): boolean {
  return a.from === b.from && a.to === b.to && a.qos === b.qos;
}

function rowOf(row: LedgerRow, at: Scene['at']): Omit<Row, 'state' | 'remark'> {
  const examples: Row['examples'] = {};
  for (const [kind, list] of Object.entries(row.examples)) {
    examples[kind] = list.map((example) => exampleOf(example, at));
  }
  return {
    from: row.from,
    to: row.to,
    qos: row.qos,
    pairs: row.pairs,
    ...ledgerFigures((figure) => row[figure]),
    unverifiablePairs: row.unverifiablePairs,
    inexactPairs: row.inexactPairs,
    undecidedPairs: row.undecidedPairs,
    unverifiableFrom: [...row.unverifiableFrom],
    examples,
  };
}

function exampleOf({ sentAtUs, ...example }: LedgerExample, at: Scene['at']) {
  return { ...example, sentAt: sentAtUs === null ? null : at(sentAtUs) };
}
