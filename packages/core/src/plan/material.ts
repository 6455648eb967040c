import { AddressSpread, type AgentShare, type ClientRange, rowsOf } from '../partition/index.ts';
import type { GroupRows } from '../partition/index.ts';
import { compileTemplate } from '../template/index.ts';
import { clientContext } from './check/client-context.ts';
import type { Group, Payload, Plan, Target } from './plan.ts';

/** What travels beside a plan, and never stands in it, in a report, in a log or in an answer. */
export interface PlanMaterial {
  /** Contents of files, base64, by the names that the plan gives them. */
  readonly files: Readonly<Record<string, string>>;
  /** Rows of CSV files, by the group's name. */
  readonly rows: Readonly<Record<string, GroupRows>>;
}

export const NO_MATERIAL: PlanMaterial = { files: {}, rows: {} };

/**
 * What of it an agent needs for its share: the rows and certificates of its own clients, and the files
 * that all clients share. The files of clients and topics are in the plan already.
 */
export function materialFor(plan: Plan, all: PlanMaterial, share: AgentShare): PlanMaterial {
  const rows: Record<string, GroupRows> = {};
  const names = new Set<string>();
  for (const [index, group] of plan.groups.entries()) {
    const range = wholeRange(share, index);
    if (range.clients === 0) continue;
    const own = all.rows[group.name];
    if (own !== undefined) rows[group.name] = rowsOf(own, range);
    for (const name of sharedFiles(group)) names.add(name);
    const target = plan.targets[group.target];
    if (target === undefined) continue;
    for (const name of tlsFiles({ group, target, range, rows: own ?? null })) names.add(name);
  }
  const files: Record<string, string> = {};
  for (const name of names) {
    const content = Object.hasOwn(all.files, name) ? all.files[name] : undefined;
    if (content !== undefined) files[name] = content;
  }
  return { files, rows };
}

/** The ranges of an agent's workers follow each other. */
function wholeRange(share: AgentShare, group: number): ClientRange {
  const ranges = share.workers.flatMap(({ groups }) => {
    const range = groups[group];
    return range === undefined || range.clients === 0 ? [] : [range];
  });
  const first = ranges[0]?.first ?? 0;
  const last = ranges.at(-1)?.last ?? -1;
  return { first, last, clients: last - first + 1 };
}

function sharedFiles({ connect, publish, respond }: Group): string[] {
  const payloads = [
    connect.will?.payload ?? null,
    ...publish.map(({ payload }) => payload),
    ...respond.map(({ payload }) => payload),
  ];
  return payloads.flatMap(filesOf);
}

function filesOf(payload: Payload | null): readonly string[] {
  if (payload?.kind === 'file') return [payload.file];
  return payload?.kind === 'files' ? payload.files : [];
}

interface Clients {
  readonly group: Group;
  readonly target: Target;
  readonly range: ClientRange;
  readonly rows: GroupRows | null;
}

function tlsFiles({ group, target, range, rows }: Clients): string[] {
  const { tls } = target;
  if (tls === null) return [];
  const names = tls.ca === null ? [] : [tls.ca];
  if (target.protocol === 'rocketmq') {
    return [...names, ...[tls.cert, tls.key].filter((name) => name !== null)];
  }
  const spread = new AddressSpread(target.spread, target.urls.length, group.clients);
  const columns = group.from?.columns ?? [];
  const table = rows === null ? null : { columns, rows: rows.rows };
  for (const text of [tls.cert, tls.key]) {
    if (text === null) continue;
    const template = compileTemplate(text);
    const last = template.isStatic ? range.first : range.last;
    for (let n = range.first; n <= last; n++) {
      names.push(template.render(clientContext(group, n, { spread, table })));
    }
  }
  return names;
}
