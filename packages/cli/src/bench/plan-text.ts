/** A plan as it is written: keys in order, each with a word on where it comes from. */
export interface PlanEntry {
  readonly key: string;
  readonly value: PlanValue | readonly PlanEntry[];
  readonly why?: string | undefined;
}

export type PlanValue = string | number | boolean | readonly PlanValue[] | JsonMap;
interface JsonMap {
  readonly [key: string]: PlanValue;
}

/** Values that YAML reads as the texts that they are: words, and numbers with a unit. */
const PLAIN =
  /^(?!(?:true|false|yes|no|on|off|null|y|n)$)(?:[A-Za-z][\w-]*|\d+(?:\.\d+)?(?:us|ms|s|m|h|B|\/s))$/i;

/** YAML of these entries, with their comments in one column where they fit. */
export function planText(head: readonly string[], entries: readonly PlanEntry[]): string {
  const comments = head.map((line) => `# ${line}`.trimEnd());
  return `${[...comments, ...linesOf(entries, '')].join('\n')}\n`;
}

function linesOf(entries: readonly PlanEntry[], indent: string): string[] {
  return entries.flatMap(({ key, value, why }) => {
    const comment = why === undefined ? '' : `  # ${why}`;
    if (isEntries(value)) return [`${indent}${key}:${comment}`, ...linesOf(value, `${indent}  `)];
    if (isEntryList(value)) return [`${indent}${key}:${comment}`, ...itemsOf(value, indent)];
    return [`${indent}${key}: ${scalar(value)}${comment}`];
  });
}

function isEntries(value: PlanEntry['value']): value is readonly PlanEntry[] {
  return Array.isArray(value) && value.length > 0 && value.every(isEntry);
}

function isEntry(value: unknown): value is PlanEntry {
  return typeof value === 'object' && value !== null && 'key' in value && 'value' in value;
}

/** Lists of maps are written an item a line. */
function isEntryList(value: PlanEntry['value']): value is readonly PlanValue[] {
  return Array.isArray(value) && value.some((item) => typeof item === 'object');
}

function itemsOf(items: readonly PlanValue[], indent: string): string[] {
  return items.map((item) => `${indent}  - ${scalar(item)}`);
}

function scalar(value: PlanEntry['value']): string {
  if (typeof value === 'string') return PLAIN.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => scalar(item)).join(', ')}]`;
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(([key, item]) => `${scalar(key)}: ${scalar(item)}`);
    return `{ ${parts.join(', ')} }`;
  }
  return String(value);
}
