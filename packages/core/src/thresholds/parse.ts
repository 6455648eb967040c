import { Cursor, thresholdError } from './cursor.ts';
import { takeLiteral } from './literal.ts';
import { takeModifiers } from './modifiers.ts';
import { readPattern } from './pattern.ts';
import type {
  AggregateKind,
  Comparison,
  ParsedThreshold,
  TagFilter,
  TagOperator,
  Term,
} from './threshold.ts';

/** Longest line. Real ones have about 100 characters. */
export const MAX_THRESHOLD_LENGTH = 1_000;
/** Filters of one selector; there are five keys. */
const MAX_TAGS = 10;

const NAME = /[A-Za-z_][\w-]*(?:\.[\w-]+)*/y;
const KEY = /[A-Za-z_]\w*/y;
const QUOTED = /"(?:[^"\\]|\\.)*"/y;
const BARE_VALUE = /[^,{}"]+/y;
const AGGREGATE = /[a-z]+/y;

/** Longer ones first: the first that fits is taken. */
const TAG_OPERATORS: readonly TagOperator[] = ['=~', '!=', '='];
const COMPARISONS: readonly Comparison[] = ['<=', '>=', '==', '!=', '<', '>'];

const AGGREGATES: ReadonlySet<string> = new Set<AggregateKind>([
  'p',
  'avg',
  'min',
  'max',
  'med',
  'count',
  'rate',
  'share',
  'value',
  'delta',
]);
const AGGREGATE_HINT = 'use p(99), avg, min, max, med, count, rate, share, value or delta';

/**
 * Reads one threshold line, such as
 * `publish_time{group=devices}: p(99) < 500ms over 10s for 3 in publish, abort after 30s`.
 *
 * @throws SquallError SQ_THRESHOLD with the `column` where it went wrong.
 */
export function parseThreshold(text: string): ParsedThreshold {
  if (text.length > MAX_THRESHOLD_LENGTH) {
    throw thresholdError(`a threshold has at most ${MAX_THRESHOLD_LENGTH} characters`, 1);
  }
  const cursor = new Cursor(text);
  cursor.skipSpace();
  const metricColumn = cursor.column;
  const metric = cursor.need(NAME, 'the name of a metric', 'for example publish_time');
  const tags = takeTags(cursor);
  cursor.need(/:/y, '":" after the metric', 'for example publish_time: p(99) < 500ms');
  const terms = takeTerms(cursor);
  const { columns, ...modifiers } = takeModifiers(cursor);
  const parsed = { text: text.trim(), metric, tags, terms, ...modifiers };
  return { ...parsed, columns: { metric: metricColumn, ...columns } };
}

function takeTags(cursor: Cursor): TagFilter[] {
  const tags: TagFilter[] = [];
  if (cursor.take(/\{/y) === null) return tags;
  do {
    if (tags.length === MAX_TAGS) cursor.fail(`at most ${MAX_TAGS} tags are allowed,`);
    tags.push(takeTag(cursor));
  } while (cursor.take(/,/y) !== null);
  cursor.need(/\}/y, '"," or "}" after the tag');
  return tags;
}

function takeTag(cursor: Cursor): TagFilter {
  cursor.skipSpace();
  const column = cursor.column;
  const key = cursor.need(KEY, 'a tag', 'tags are group, stream, stage, qos and reason');
  const op = cursor.choose(TAG_OPERATORS, '=, != or =~ after the tag');
  const quoted = cursor.take(QUOTED);
  const value =
    quoted === null
      ? cursor.need(BARE_VALUE, 'the value of the tag').trim()
      : quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
  if (op === '=~') checkPattern(value, column);
  return { key, op, value, column };
}

function checkPattern(pattern: string, column: number): void {
  try {
    readPattern(pattern);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `"${pattern}" is not a pattern: ${error.message}`;
    throw thresholdError(
      message,
      column,
      'a pattern has . [a-z] * + ? and |, such as conn.*|timeout',
    );
  }
}

function takeTerms(cursor: Cursor): Term[] {
  const terms = [takeTerm(cursor)];
  if (cursor.take(/and\b/y) !== null) terms.push(takeTerm(cursor));
  if (cursor.peek() === 'and') {
    cursor.fail('two comparisons are allowed in a line,', 'write a second threshold');
  }
  return terms;
}

function takeTerm(cursor: Cursor): Term {
  cursor.skipSpace();
  const column = cursor.column;
  const name = cursor.need(AGGREGATE, 'an aggregate', AGGREGATE_HINT);
  if (!isAggregate(name)) {
    throw thresholdError(`there is no aggregate "${name}"`, column, AGGREGATE_HINT);
  }
  const percentile = name === 'p' ? takePercentile(cursor) : null;
  const op = cursor.choose(COMPARISONS, 'one of < <= > >= == !=');
  return { aggregate: name, percentile, op, literal: takeLiteral(cursor), column };
}

function takePercentile(cursor: Cursor): number {
  cursor.need(/\(/y, '"(" after p', 'for example p(99) or p(99.9)');
  cursor.skipSpace();
  const column = cursor.column;
  const value = Number(cursor.need(/\d+(?:\.\d+)?/y, 'a number from 0 to 100'));
  if (!(value > 0 && value <= 100)) {
    throw thresholdError('a percentile is above 0 and at most 100', column, 'for example p(99.9)');
  }
  cursor.need(/\)/y, '")" after the percentile');
  return value;
}

function isAggregate(name: string): name is AggregateKind {
  return AGGREGATES.has(name);
}
