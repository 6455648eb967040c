import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { type Finding, plainText } from '../findings.ts';
import { Noted, type DraftMap, type DraftValue, type PlanDraft } from './draft.ts';

const WIDTH = 100;

/** YAML of a draft. Every comment is one line without control characters, whoever wrote its words. */
export function writePlan(draft: PlanDraft, lost: readonly Finding[]): string {
  const { head, name, vars, targets, groups, stages, thresholds } = draft;
  const document = new Document();
  document.contents = mapOf({
    squall: 1,
    name,
    ...(Object.keys(vars).length === 0 ? {} : { vars }),
    targets,
    groups,
    stages,
    ...(thresholds.length === 0 ? {} : { thresholds }),
  });
  const listed = lost.map(({ line, what, why }) => `  line ${line}: ${what}: ${why}`);
  const missing = lost.length === 0 ? [] : ['', 'Not carried over:', ...listed];
  document.commentBefore = comment([...head, ...missing]);
  return document.toString({ lineWidth: WIDTH });
}

type Node = Scalar | YAMLMap | YAMLSeq;

function nodeOf(value: DraftValue): Node {
  if (value instanceof Noted) {
    const node = nodeOf(value.value);
    node.commentBefore = comment(value.why);
    return node;
  }
  if (isList(value)) {
    const list = new YAMLSeq();
    for (const item of value) list.items.push(nodeOf(item));
    return list;
  }
  if (typeof value !== 'object') return new Scalar(value);
  return mapOf(value);
}

function mapOf(value: DraftMap): YAMLMap {
  const map = new YAMLMap();
  for (const [name, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    const key = new Scalar(name);
    if (entry instanceof Noted) key.commentBefore = comment(entry.why);
    map.items.push(new Pair(key, nodeOf(entry instanceof Noted ? entry.value : entry)));
  }
  return map;
}

function isList(value: DraftValue): value is readonly DraftValue[] {
  return Array.isArray(value);
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${plainText(line)}`).join('\n');
}
