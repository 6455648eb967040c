/** One line of an exposition [Prometheus text format 0.0.4]. */
export interface ExpositionSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** NaN and infinities are no figures, but they are said. */
  readonly value: number;
}

const NAME = /^[A-Za-z_:][\w:]*/;
const LABEL = /\s*([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?/y;

/** The name that a line begins with, or null: a comment, or nothing at all. */
export function nameOf(line: string): string | null {
  return NAME.exec(line)?.[0] ?? null;
}

const NO_FIGURE = /^(?:[+-]?inf(?:inity)?|nan)$/i;

/** Null where the line is no sample. */
export function parseSample(line: string): ExpositionSample | null {
  const name = nameOf(line);
  if (name === null) return null;
  const labels = new Map<string, string>();
  let at = name.length;
  while (line[at] === ' ' || line[at] === '\t') at += 1;
  if (line[at] === '{') {
    LABEL.lastIndex = at + 1;
    for (let found = LABEL.exec(line); found !== null; found = LABEL.exec(line)) {
      labels.set(found[1] ?? '', unescaped(found[2] ?? ''));
      at = LABEL.lastIndex;
    }
    at = line.indexOf('}', at);
    if (at < 0) return null;
    at += 1;
  }
  const [text = ''] = line.slice(at).trim().split(/\s+/);
  if (NO_FIGURE.test(text)) return { name, labels, value: Number.NaN };
  const value = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? { name, labels, value } : null;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(["\\n])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
}
