import type { AddressSpread } from '../../partition/index.ts';
import type { TemplateContext } from '../../template/index.ts';
import type { CsvTable } from '../files/csv.ts';
import type { Group } from '../plan.ts';

/** What is known of one client before the run; `{{run}}` and secrets stand for themselves. */
export function clientContext(
  group: Group,
  n: number,
  { spread, table }: { readonly spread: AddressSpread; readonly table: CsvTable | null },
): TemplateContext {
  const row = table?.rows[n] ?? [];
  return {
    n,
    clients: group.clients,
    blockN: spread.blockNOf(n),
    seq: 0,
    nowMs: 0,
    run: '{{run}}',
    group: group.name,
    csv: Object.fromEntries((table?.columns ?? []).map((column, k) => [column, row[k] ?? ''])),
    secrets: {},
    vars: {},
    random: () => 0,
  };
}
