import type { Findings } from '../findings.ts';
import type { XmlElement } from '../xml/parse-xml.ts';

/** Elements of a scenario by what they are called; every block may come in any order. */
export class Scenario {
  readonly root: XmlElement;
  readonly findings: Findings;

  constructor(root: XmlElement, findings: Findings) {
    this.root = root;
    this.findings = findings;
  }

  /** The entries of a block such as `brokers`. */
  block(name: string): readonly XmlElement[] {
    return this.root.children
      .filter((child) => child.name === name)
      .flatMap(({ children }) => children);
  }

  byId(block: string, id: string): XmlElement | undefined {
    return this.block(block).find(({ attributes }) => attributes['id'] === id);
  }

  lose(element: XmlElement, why: string): void {
    this.findings.lose(element.line, whatOf(element), why);
  }

  change(element: XmlElement, why: string): void {
    this.findings.change(element.line, whatOf(element), why);
  }

  /** Attributes that nothing here knows. */
  knows(element: XmlElement, names: readonly string[]): void {
    const unknown = Object.keys(element.attributes).filter((name) => !names.includes(name));
    if (unknown.length > 0) this.lose(element, `the attribute ${unknown.join(', ')}`);
  }

  number(element: XmlElement, text: string, fallback: number): number {
    const value = Number(text);
    if (text.trim() === '') return fallback;
    if (Number.isFinite(value) && value >= 0) return value;
    this.lose(element, `"${text}" is no number; ${fallback} is taken`);
    return fallback;
  }
}

export function whatOf({ name, attributes }: XmlElement): string {
  const id = attributes['id'];
  return id === undefined ? name : `${name} "${id}"`;
}

/** Text of a child element, trimmed: line breaks occur in names. */
export function childText(element: XmlElement, ...names: readonly string[]): string {
  for (const name of names) {
    const found = element.children.find((child) => child.name === name);
    if (found !== undefined) return found.text.trim();
  }
  return '';
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `5s` in ms; null for what is no time of theirs. */
export function timeMs(text: string): number | null {
  const match = /^\s*(\d+)\s*(ms|s|m|h|d)\s*$/.exec(text);
  return match === null ? null : Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1);
}

/** `10/5s` in messages a second. */
export function perSecond(text: string): number | null {
  const match = /^\s*(\d+)\s*\/\s*(\d*\s*(?:ms|s|m|h|d))\s*$/.exec(text);
  const length = timeMs((match?.[2] ?? '').replace(/^(?=\D)/, '1'));
  return length === null || length === 0 ? null : (Number(match?.[1]) * 1_000) / length;
}
