import { SquallError } from '../errors/index.ts';
import type { ThresholdSpec } from '../plan/plan.ts';
import { parseCount } from '../units/index.ts';
import { nearest } from '../text/nearest.ts';
import { MAX_THRESHOLD_LENGTH, parseThreshold } from './parse.ts';
import type { ParsedThreshold } from './threshold.ts';

/** A threshold of the plan: what travels and is printed (`spec`), and what is judged (`parsed`). */
export interface ReadThreshold {
  readonly spec: ThresholdSpec;
  readonly parsed: ParsedThreshold;
}

const KEYS = [
  'id',
  'metric',
  'tags',
  'expect',
  'over',
  'for',
  'stages',
  'slo',
  'on_breach',
  'abort',
  'warn',
  'after',
  'no_data',
  'min_samples',
] as const;
type Key = (typeof KEYS)[number];
type LongForm = Readonly<Partial<Record<Key, unknown>>>;

const NO_DATA: ReadonlySet<unknown> = new Set<ThresholdSpec['noData']>([
  'fail',
  'warn',
  'pass',
  'inconclusive',
]);

/**
 * Reads an entry of `thresholds`: a line, or the long form, which says the same in a map
 * (`metric`, `tags`, `expect`, `over`, `for`, `stages`, `slo`, `on_breach: fail | abort | warn`,
 * `after`) and can say more (`id`, `no_data`, `min_samples`). A line whose quotes were forgotten in
 * YAML is a map with one text, and is read as the line.
 *
 * @throws SquallError SQ_THRESHOLD; in the long form its `path` is the key.
 */
export function readThreshold(entry: unknown): ReadThreshold {
  const line = typeof entry === 'string' ? entry : unquotedLine(entry);
  if (line !== null) return withLine(line);
  if (!isMap(entry)) throw wrong('a threshold is a line of text or a map', undefined);
  return fromMap(entry);
}

function withLine(line: string): ReadThreshold {
  const parsed = parseThreshold(line);
  return {
    spec: { text: parsed.text, id: null, noData: 'fail', minSamples: null },
    parsed,
  };
}

function unquotedLine(entry: unknown): string | null {
  if (!isMap(entry)) return null;
  const [only, ...more] = Object.entries(entry);
  if (only === undefined || more.length > 0 || isKey(only[0])) return null;
  return typeof only[1] === 'string' ? `${only[0]}: ${only[1]}` : null;
}

function fromMap(entry: Readonly<Record<string, unknown>>): ReadThreshold {
  for (const key of Object.keys(entry)) {
    if (isKey(key)) continue;
    const near = nearest(key, KEYS);
    const hint = near === null ? `the keys are ${KEYS.join(', ')}` : `did you mean ${near}?`;
    throw wrong(`"${key}" is not a key of a threshold`, key, hint);
  }
  const map: LongForm = entry;
  const parsed = parsePieces(pieces(map));
  return {
    spec: {
      text: parsed.text,
      id: map.id === undefined ? null : text(map.id, 'id'),
      noData: noData(map.no_data),
      minSamples: map.min_samples === undefined ? null : minSamples(map.min_samples),
    },
    parsed,
  };
}

interface Piece {
  readonly key: Key;
  readonly text: string;
}

/** The line, in pieces that know their key. */
function pieces(map: LongForm): Piece[] {
  const list: Piece[] = [
    { key: 'metric', text: `${text(map.metric, 'metric')}${tagsOf(map.tags)}:` },
    { key: 'expect', text: text(map.expect, 'expect') },
  ];
  if (map.over !== undefined) list.push({ key: 'over', text: `over ${text(map.over, 'over')}` });
  if (map.for !== undefined) list.push({ key: 'for', text: `for ${text(map.for, 'for')}` });
  if (map.stages !== undefined) list.push({ key: 'stages', text: `in ${stages(map.stages)}` });
  if (map.slo !== undefined) list.push({ key: 'slo', text: `slo ${text(map.slo, 'slo')}` });
  list.push(...breach(map));
  if (map.after !== undefined)
    list.push({ key: 'after', text: `after ${text(map.after, 'after')}` });
  return list;
}

function breach(map: LongForm): Piece[] {
  const said: Piece[] = [];
  for (const key of ['abort', 'warn'] as const) {
    const value = map[key];
    if (value !== undefined && typeof value !== 'boolean') {
      throw wrong(`${key} is true or false`, key);
    }
    if (value === true) said.push({ key, text: key });
  }
  const by = map.on_breach;
  if (by === 'abort' || by === 'warn') said.push({ key: 'on_breach', text: by });
  else if (by !== undefined && by !== 'fail') {
    throw wrong('on_breach is fail, abort or warn', 'on_breach');
  }
  return said;
}

function parsePieces(list: readonly Piece[]): ParsedThreshold {
  const line = list.map((piece) => piece.text).join(' ');
  try {
    return parseThreshold(line);
  } catch (error) {
    if (!(error instanceof SquallError) || error.column === undefined) throw error;
    const { hint } = error;
    throw wrong(error.message, keyAt(list, error.column), hint);
  }
}

function keyAt(list: readonly Piece[], column: number): Key {
  let end = 0;
  for (const piece of list) {
    end += piece.text.length + 1;
    if (column <= end) return piece.key;
  }
  return list.at(-1)?.key ?? 'expect';
}

function tagsOf(tags: unknown): string {
  if (tags === undefined) return '';
  if (!isMap(tags)) throw wrong('tags is a map, for example { group: devices }', 'tags');
  const list = Object.entries(tags).map(([key, value]) => {
    const quoted = text(value, 'tags').replaceAll(/["\\]/g, String.raw`\$&`);
    return `${key}="${quoted}"`;
  });
  return list.length === 0 ? '' : `{${list.join(',')}}`;
}

function stages(value: unknown): string {
  const names = Array.isArray(value) ? value : [value];
  if (names.length === 0) throw wrong('stages names at least one stage', 'stages');
  return names.map((name) => text(name, 'stages')).join('|');
}

function noData(value: unknown): ThresholdSpec['noData'] {
  if (value === undefined) return 'fail';
  if (isNoData(value)) return value;
  throw wrong('no_data is fail, warn, pass or inconclusive', 'no_data');
}

function minSamples(value: unknown): number {
  try {
    const samples = parseCount(value);
    if (samples >= 1) return samples;
  } catch {
    // Told below, with the key.
  }
  throw wrong('min_samples is a whole number from 1', 'min_samples');
}

/** One line of text: a line break would let a value pose as another key. */
function text(value: unknown, key: Key): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.trim() === '') throw wrong(`${key} is missing`, key);
  if (value.length > MAX_THRESHOLD_LENGTH) throw wrong(`${key} is too long`, key);
  return value.trim();
}

function isNoData(value: unknown): value is ThresholdSpec['noData'] {
  return NO_DATA.has(value);
}

function isKey(key: string): key is Key {
  return (KEYS as readonly string[]).includes(key);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(message: string, path: string | undefined, hint?: string): SquallError {
  return new SquallError('SQ_THRESHOLD', message, {
    ...(path === undefined ? {} : { path }),
    ...(hint === undefined ? {} : { hint }),
  });
}
