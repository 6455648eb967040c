/**
 * `device-{{n:06}}` cut into parts. A template holds names, never code: the few forms below are all
 * there is, and each is matched as a whole.
 */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** Printed from 1 for `n` and `block.n`, from 0 for `seq`, then `op k`, then padded to `width`. */
  | {
      readonly kind: 'index';
      readonly of: IndexName;
      readonly op: '%' | '+' | '-' | null;
      readonly operand: number;
      readonly width: number;
    }
  /** A whole number from `min` to `max`, both included. */
  | { readonly kind: 'random'; readonly min: number; readonly max: number }
  /** `stamp`: the place of a stamp in its text form, in payloads only. */
  | { readonly kind: 'now' | 'uuid' | 'run' | 'group' | 'stamp' }
  | { readonly kind: 'csv' | 'env' | 'var'; readonly name: string };

export type IndexName = 'n' | 'block.n' | 'seq';

export type ParsedTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | {
      readonly ok: false;
      /** From 1, in UTF-16 units of the text. */
      readonly column: number;
      readonly message: string;
      readonly hint: string;
    };

/** Names that a variable of the plan may not take. */
export const BUILT_IN_NAMES: readonly string[] = [
  'n',
  'block',
  'seq',
  'now',
  'random',
  'uuid',
  'csv',
  'env',
  'run',
  'group',
  'stamp',
];

/** Longer expressions are not templates: keeps hostile input away from the patterns. */
const MAX_EXPRESSION_LENGTH = 128;
/** Zero padding beyond this has no use and would only make ids too long. */
const MAX_WIDTH = 64;

const FORMS =
  '{{n}}, {{n:06}}, {{n % 10}}, {{n + 1}}, {{n - 1}}, {{block.n}}, {{seq}}, {{now}}, {{random 1 100}}, {{uuid}}, {{csv.column}}, {{env.NAME}}, {{run}}, {{group}}, {{stamp}}, {{name of a variable}}';

const INDEX = /^(n|block\.n|seq)(?:\s*([%+-])\s*(\d{1,15}))?(?:\s*:\s*0(\d{1,2}))?$/;
const RANDOM = /^random\s+(-?\d{1,15})\s+(-?\d{1,15})$/;
const MEMBER = /^(csv|env)\.([A-Za-z_]\w*)$/;
const NAME = /^[A-Za-z][\w-]*$/;

/** Cuts `text` into parts; the first fault ends it. */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{{', at);
    if (open === -1) break;
    if (open > at) parts.push({ kind: 'text', text: text.slice(at, open) });
    const close = text.indexOf('}}', open + 2);
    if (close === -1) {
      return fault(open, '"{{" is never closed', 'close it with "}}"');
    }
    const parsed = parseExpression(text.slice(open + 2, close).trim(), open);
    if ('ok' in parsed) return parsed;
    parts.push(parsed);
    at = close + 2;
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) });
  return { ok: true, parts };
}

function parseExpression(expression: string, at: number): TemplatePart | ParsedTemplate {
  if (expression === '') return fault(at, '"{{}}" is empty', `write one of ${FORMS}`);
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    return fault(at, 'this expression is too long', `write one of ${FORMS}`);
  }
  const index = INDEX.exec(expression);
  if (index !== null) return indexPart(index, at);
  const random = RANDOM.exec(expression);
  if (random !== null) return randomPart(random, at);
  const member = MEMBER.exec(expression);
  if (member !== null) {
    return { kind: member[1] === 'csv' ? 'csv' : 'env', name: member[2] ?? '' };
  }
  switch (expression) {
    case 'now':
    case 'uuid':
    case 'run':
    case 'group':
    case 'stamp':
      return { kind: expression };
    default:
      break;
  }
  if (NAME.test(expression) && !BUILT_IN_NAMES.includes(expression)) {
    return { kind: 'var', name: expression };
  }
  return fault(at, `"{{${expression}}}" is not a template expression`, `write one of ${FORMS}`);
}

function indexPart(match: RegExpExecArray, at: number): TemplatePart | ParsedTemplate {
  const of = match[1] === 'n' || match[1] === 'seq' ? match[1] : 'block.n';
  const op = match[2] === '%' || match[2] === '+' || match[2] === '-' ? match[2] : null;
  const operand = Number(match[3] ?? 0);
  const width = Number(match[4] ?? 0);
  if (op === '%' && operand === 0) {
    return fault(at, 'the remainder of a division by 0 does not exist', 'write {{n % 10}}');
  }
  if (width > MAX_WIDTH) {
    return fault(at, `${width} digits are too many`, `pad to at most ${MAX_WIDTH} digits`);
  }
  return { kind: 'index', of, op, operand, width };
}

function randomPart(match: RegExpExecArray, at: number): TemplatePart | ParsedTemplate {
  const min = Number(match[1]);
  const max = Number(match[2]);
  if (min > max) {
    return fault(at, `there is no number from ${min} to ${max}`, 'write the smaller one first');
  }
  return { kind: 'random', min, max };
}

function fault(at: number, message: string, hint: string): ParsedTemplate {
  return { ok: false, column: at + 1, message, hint };
}
