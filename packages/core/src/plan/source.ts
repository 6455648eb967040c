import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { MAX_PLAN_CHARACTERS, MAX_PLAN_DEPTH, MAX_PLAN_NODES } from './limits.ts';
import { type Finding, type PlanPath, type PlanProblem, printPath } from './problem.ts';

const TOO_DEEP = `the file is nested deeper than ${MAX_PLAN_DEPTH} levels`;

const NOT_UTF_8 = 'the file is not text in UTF-8';
const UTF_8_HINT = 'it looks like UTF-16 or a binary file: save it as UTF-8';

/** A plan file as plain values, with the place of each. */
export interface PlanSource {
  readonly value: unknown;
  /** Where a finding points to: its value, its key, or the nearest thing around it that exists. */
  place(finding: Finding): { readonly line: number; readonly column: number };
}

export type ReadSource =
  | { readonly ok: true; readonly source: PlanSource }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

/** Reads YAML 1.2 (of which JSON is a part). Every fault of the syntax is told, with its place. */
export function readSource(text: string): ReadSource {
  if (text.length > MAX_PLAN_CHARACTERS) {
    return broken(`the file is longer than ${MAX_PLAN_CHARACTERS} characters`);
  }
  // Read as UTF-8, texts of other encodings of Unicode are full of these, and YAML allows none.
  if (text.includes('\0') || text.startsWith('\uFFFD\uFFFD')) return broken(NOT_UTF_8, UTF_8_HINT);
  const lines = new LineCounter();
  try {
    // Keys are compared here: the parser compares each with all before it.
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
    });
    const faults = [...document.errors, ...document.warnings];
    if (faults.length > 0) {
      return { ok: false, problems: faults.map((fault) => syntaxProblem(fault, lines)) };
    }
    const reader = new TreeReader(document, text);
    const value = reader.read();
    const problems = reader.faults.map(
      ({ at, message, hint, path = '' }): PlanProblem => ({
        ...place(lines, at),
        ...problem(message, hint),
        path,
      }),
    );
    if (problems.length > 0) return { ok: false, problems };
    return {
      ok: true,
      source: { value, place: (finding) => place(lines, reader.offsetOf(finding)) },
    };
  } catch (error) {
    // The stack may be exhausted outside of what the parser guards, too.
    if (!(error instanceof RangeError)) throw error;
    return broken(TOO_DEEP);
  }
}

function broken(message: string, hint?: string): ReadSource {
  return { ok: false, problems: [{ line: 1, column: 1, ...problem(message, hint) }] };
}

function problem(message: string, hint?: string) {
  return { path: '', message, code: 'SQ_PLAN', ...(hint === undefined ? {} : { hint }) } as const;
}

function syntaxProblem(
  fault: { readonly code: string; readonly message: string; readonly pos: readonly number[] },
  lines: LineCounter,
): PlanProblem {
  const hints: Readonly<Record<string, string>> = {
    TAB_AS_INDENT: 'indent with spaces: YAML allows no tabs there',
    MULTIPLE_DOCS: 'a file holds one plan: remove "---" and what follows it',
    TAG_RESOLVE_FAILED: 'a plan holds plain values, no tags',
    BAD_INDENT: 'items of one map begin in the same column',
  };
  let { message } = fault;
  if (fault.code === 'MULTIPLE_DOCS') message = 'the file holds more than one YAML document';
  // The parser calls itself for each level, and tells an exhausted stack as a fault of the text.
  if (message.includes('call stack')) message = TOO_DEEP;
  return { ...place(lines, fault.pos[0] ?? 0), ...problem(message, hints[fault.code]) };
}

function place(lines: LineCounter, offset: number) {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

interface Place {
  readonly key: number | null;
  readonly value: number;
  /** Where the text of a one-line scalar begins, when the file shows it as it is. */
  readonly text: number | null;
}

/** Walks the YAML tree once: plain values out, places remembered by path. */
class TreeReader {
  readonly faults: { at: number; message: string; hint?: string; path?: string }[] = [];
  readonly #document: Document;
  readonly #text: string;
  readonly #anchors = new Map<string, Node>();
  readonly #places = new Map<string, Place>();
  #nodes = 0;

  constructor(document: Document, text: string) {
    this.#document = document;
    this.#text = text;
  }

  read(): unknown {
    return this.#read(this.#document.contents, { path: [], key: null });
  }

  offsetOf(finding: Finding): number {
    for (let length = finding.path.length; length >= 0; length--) {
      const found = this.#places.get(keyOf(finding.path.slice(0, length)));
      if (found === undefined) continue;
      const exact = length === finding.path.length;
      if (exact && finding.atKey === true) return found.key ?? found.value;
      if (exact && finding.column !== undefined && found.text !== null) {
        return found.text + finding.column - 1;
      }
      // Something is missing in this map: its key is a better place than its first entry.
      return exact ? found.value : (found.key ?? found.value);
    }
    return 0;
  }

  #read(node: Node | null, at: { readonly path: PlanPath; readonly key: number | null }): unknown {
    const offset = node?.range?.[0] ?? at.key ?? 0;
    if (!this.#admit(at.path, offset)) return null;
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target !== undefined) return this.#read(target, at);
      this.#fault(offset, `there is no anchor &${node.source} before this alias`);
      return null;
    }
    if (isMap(node) || isSeq(node) || isScalar(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    }
    this.#remember(at, node, offset);
    if (isMap(node)) return this.#map(node, at.path);
    if (isSeq(node)) {
      return node.items.map((item, index) =>
        this.#read(nodeOf(item), { path: [...at.path, index], key: null }),
      );
    }
    return isScalar(node) ? this.#scalar(node, at.path) : null;
  }

  #scalar(node: Scalar, path: PlanPath): unknown {
    const { value, source } = node;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      const message = `${(source ?? String(value)).slice(0, 40)} is not a number that a plan can hold`;
      this.faults.push({ at: node.range?.[0] ?? 0, message, path: printPath(path) });
    }
    return value;
  }

  #map(node: YAMLMap, path: PlanPath): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    const seen = new Set<string>();
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const keyNode = pair.key;
      const offset = isScalar(keyNode) ? (keyNode.range?.[0] ?? 0) : (node.range?.[0] ?? 0);
      const key = keyText(keyNode);
      if (key === null) {
        this.#fault(offset, 'a key is plain text', 'maps, lists and aliases cannot be keys');
        continue;
      }
      // Not a name in any plan, and as a key of a plain object it would change its prototype.
      if (key === '__proto__') {
        this.#fault(offset, '"__proto__" is not allowed as a key');
        continue;
      }
      if (seen.has(key)) {
        this.#fault(offset, 'this key stands twice', 'a key stands once in a map');
        continue;
      }
      seen.add(key);
      const value = this.#read(nodeOf(pair.value), { path: [...path, key], key: offset });
      entries.push([key, value]);
    }
    return Object.fromEntries(entries);
  }

  /** False where a limit is passed: it is told once, and nothing below is read. */
  #admit(path: PlanPath, offset: number): boolean {
    if (path.length > MAX_PLAN_DEPTH) {
      this.#faultOnce(offset, TOO_DEEP);
      return false;
    }
    this.#nodes++;
    if (this.#nodes <= MAX_PLAN_NODES) return true;
    this.#faultOnce(offset, `the file grows beyond ${MAX_PLAN_NODES} values`);
    return false;
  }

  #remember(
    at: { readonly path: PlanPath; readonly key: number | null },
    node: Node | null,
    value: number,
  ): void {
    const quoted = isScalar(node) && (node.type === 'QUOTE_SINGLE' || node.type === 'QUOTE_DOUBLE');
    const start = quoted ? value + 1 : value;
    const shown =
      isScalar(node) && typeof node.value === 'string' && this.#text.startsWith(node.value, start);
    this.#places.set(keyOf(at.path), { key: at.key, value, text: shown ? start : null });
  }

  #fault(at: number, message: string, hint?: string): void {
    this.faults.push({ at, message, ...(hint === undefined ? {} : { hint }) });
  }

  #faultOnce(at: number, message: string): void {
    if (!this.faults.some((fault) => fault.message === message)) this.#fault(at, message);
  }
}

function nodeOf(item: unknown): Node | null {
  return isNode(item) ? item : null;
}

/** Null for what cannot be a key. */
function keyText(key: unknown): string | null {
  const value = isScalar(key) ? key.value : null;
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function keyOf(path: PlanPath): string {
  return JSON.stringify(path);
}
