/** One condition on a label. */
interface LabelMatcher {
  readonly label: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Which series of an exposition a figure is made of. */
export interface SeriesSelector {
  readonly name: string;
  readonly matchers: readonly LabelMatcher[];
  /** Written as `rate(…)`: growth a second since the reading before. */
  readonly isRate: boolean;
}

const RATE = /^rate\(\s*(.*?)\s*\)$/s;
const NAME = /^[A-Za-z_:][\w:]*/;
const MATCHER = /\s*([A-Za-z_]\w*)\s*(!?=)\s*"((?:[^"\\]|\\.)*)"\s*(,|$)\s*/y;

/**
 * Reads `http_requests_total{code="200",method!="GET"}`, in `rate(…)` or bare.
 *
 * @returns null where it is no selector
 */
export function parseSelector(text: string): SeriesSelector | null {
  const inside = RATE.exec(text)?.[1];
  const bare = inside ?? text;
  const name = NAME.exec(bare)?.[0];
  if (name === undefined) return null;
  const matchers = matchersOf(bare.slice(name.length));
  return matchers === null ? null : { name, matchers, isRate: inside !== undefined };
}

function matchersOf(text: string): LabelMatcher[] | null {
  if (text === '') return [];
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  const list = text.slice(1, -1);
  const matchers: LabelMatcher[] = [];
  let at = 0;
  while (at < list.length) {
    MATCHER.lastIndex = at;
    const found = MATCHER.exec(list);
    if (found === null) return list.slice(at).trim() === '' ? matchers : null;
    const [, label = '', operator, value = ''] = found;
    matchers.push({ label, operator: operator === '=' ? '=' : '!=', value: unescaped(value) });
    at = MATCHER.lastIndex;
  }
  return matchers;
}

/** `\"`, `\\` and `\n`, as in an exposition [Prometheus text format 0.0.4]. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(["\\n])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
}

/** Names that count up by convention [OpenMetrics]. */
export function countsUp(name: string): boolean {
  return /_(?:total|count|sum|bucket)$/.test(name);
}
