import { parseTemplate } from '../../template/index.ts';
import { nearest } from '../../text/nearest.ts';
import type { Group } from '../plan.ts';
import type { Findings, PlanPath } from '../problem.ts';

/**
 * Every `{{csv.x}}` of a plan's tree has a file with that column.
 * @param root the tree of the file, variables filled in.
 */
export function checkCsvColumns(
  root: unknown,
  groups: readonly Group[],
  { findings, looks }: { readonly findings: Findings; readonly looks: boolean },
): void {
  for (const group of groups) {
    const tell = (use: ColumnUse) => checkUse(use, group, { findings, looks });
    for (const use of columnUses(memberOf(root, ['groups', group.name]), ['groups', group.name])) {
      tell(use);
    }
    for (const use of topicUses(root, group)) tell(use);
    const target = ['targets', group.target];
    for (const use of columnUses(memberOf(root, target), target)) tell(use);
  }
}

interface ColumnUse {
  readonly path: PlanPath;
  /** In the text, from 1. */
  readonly column: number;
  readonly name: string;
}

function checkUse(
  { path, column, name }: ColumnUse,
  { name: group, from }: Group,
  { findings, looks }: { readonly findings: Findings; readonly looks: boolean },
): void {
  if (from === null) {
    findings.error(path, `the group ${group} has no CSV file with the column "${name}"`, {
      column,
      hint: 'write from: with the name of the file into the group',
    });
    return;
  }
  // Where the file could not be read, that was told.
  if (!looks || from.columns.length === 0 || from.columns.includes(name)) return;
  const near = nearest(name, from.columns);
  findings.error(path, `${from.file} has no column "${name}"`, {
    column,
    hint:
      near === null
        ? `its columns are ${from.columns.join(', ')}`
        : `did you mean {{csv.${near}}}?`,
  });
}

/** Those of topics that stand in a file, told where the file is named. */
function topicUses(root: unknown, { name, publish }: Group): ColumnUse[] {
  return publish.flatMap(({ topic }, index) => {
    const streams = ['groups', name, 'publish'];
    const path = [[...streams, index], streams]
      .map((stream): PlanPath => [...stream, 'topic', 'file'])
      .find((place) => typeof memberOf(root, place) === 'string');
    if (typeof topic === 'string' || path === undefined) return [];
    return topic.flatMap(({ template }) => usesIn(template, path));
  });
}

function columnUses(value: unknown, path: PlanPath): ColumnUse[] {
  if (typeof value === 'string') return usesIn(value, path);
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, child]) => columnUses(child, [...path, key]));
}

function usesIn(text: string, path: PlanPath): ColumnUse[] {
  // The text of a payload is sent as it is.
  if (path.at(-1) === 'text' && path.at(-2) === 'payload') return [];
  const parsed = text.includes('{{') ? parseTemplate(text) : null;
  if (parsed === null || !parsed.ok) return [];
  const uses: ColumnUse[] = [];
  let at = 0;
  for (const part of parsed.parts) {
    const end = part.kind === 'text' ? at + part.text.length : text.indexOf('}}', at) + 2;
    if (part.kind === 'csv') uses.push({ path, column: at + 1, name: part.name });
    at = end;
  }
  return uses;
}

function memberOf(root: unknown, path: PlanPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null;
    value = Reflect.get(value, step);
  }
  return value;
}
