import { SquallError } from '../errors/index.ts';
import { type IndexName, parseTemplate, type TemplatePart } from './parse.ts';

/** What a template is rendered with. */
export interface TemplateContext {
  /** Index of the client in its group, from 0 (`{{n}}` prints it from 1). */
  readonly n: number;
  /** Clients of the whole group. */
  readonly clients: number;
  /** Index of the client in its URL block, from 0 (`{{block.n}}` prints it from 1). */
  readonly blockN: number;
  /** Index of the message among those of its client and stream, from 0. */
  readonly seq: number;
  /** Wall clock, ms since 1970. */
  readonly nowMs: number;
  /** Short id of the run. */
  readonly run: string;
  readonly group: string;
  /** The client's row of a CSV file. */
  readonly csv?: Readonly<Record<string, string>>;
  /** Values of `{{env.NAME}}`. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
  /** At least 0, below 1. */
  random(): number;
}

export interface Template {
  readonly text: string;
  readonly parts: readonly TemplatePart[];
  /** The text is the same for every client and message of a group. */
  readonly isStatic: boolean;
  /** Changes with each rendering: uses seq, now, random, uuid or stamp. */
  readonly perMessage: boolean;
  /** @throws SquallError SQ_PLAN when a secret, variable or column is missing. */
  render(context: TemplateContext): string;
}

/** @throws SquallError SQ_PLAN, with the column, when `text` is not a template. */
export function compileTemplate(text: string): Template {
  const parsed = parseTemplate(text);
  if (!parsed.ok) {
    throw new SquallError('SQ_PLAN', `${parsed.message} (column ${parsed.column})`, {
      hint: parsed.hint,
    });
  }
  const { parts } = parsed;
  return {
    text,
    parts,
    isStatic: !parts.some(variesByClient) && !parts.some(variesByMessage),
    perMessage: parts.some(variesByMessage),
    render: (context) => {
      let rendered = '';
      for (const part of parts) rendered += renderPart(part, context);
      return rendered;
    },
  };
}

function variesByMessage(part: TemplatePart): boolean {
  if (part.kind === 'index') return part.of === 'seq';
  return ['now', 'random', 'uuid', 'stamp'].includes(part.kind);
}

function variesByClient(part: TemplatePart): boolean {
  return (part.kind === 'index' && part.of !== 'seq') || part.kind === 'csv';
}

/** @throws SquallError SQ_PLAN when a secret, variable or column is missing. */
export function renderPart(part: TemplatePart, context: TemplateContext): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'index':
      return renderIndex(part, indexValue(part.of, context));
    case 'random':
      return String(part.min + Math.floor(context.random() * (part.max - part.min + 1)));
    case 'now':
      return String(Math.floor(context.nowMs));
    case 'uuid':
      return uuid(context);
    case 'run':
      return context.run;
    case 'group':
      return context.group;
    case 'stamp':
      throw new SquallError('SQ_PLAN', '{{stamp}} stands in payloads only');
    case 'csv':
      return lookUp(context.csv ?? {}, part.name, 'the CSV file has no column');
    case 'env':
      return lookUp(context.secrets, part.name, 'no value was given for the environment variable');
    case 'var':
      return lookUp(context.vars, part.name, 'the plan has no variable');
  }
}

function indexValue(of: IndexName, context: TemplateContext): number {
  if (of === 'seq') return context.seq;
  return (of === 'n' ? context.n : context.blockN) + 1;
}

function renderIndex(part: Extract<TemplatePart, { kind: 'index' }>, index: number): string {
  const value = applied(part, index);
  if (part.width === 0) return String(value);
  const digits = String(Math.abs(value)).padStart(part.width, '0');
  return value < 0 ? `-${digits}` : digits;
}

function applied(part: Extract<TemplatePart, { kind: 'index' }>, index: number): number {
  switch (part.op) {
    case '%':
      return index % part.operand;
    case '+':
      return index + part.operand;
    case '-':
      return index - part.operand;
    case null:
      return index;
  }
}

/** Version 4: random but for the version digit and the two variant bits [RFC 9562 §5.4]. */
function uuid(context: TemplateContext): string {
  let digits = '';
  for (let k = 0; k < 32; k++) {
    const random = Math.floor(context.random() * 16);
    digits += (k === 12 ? 4 : k === 16 ? (random % 4) + 8 : random).toString(16);
  }
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-');
}

function lookUp(table: Readonly<Record<string, string>>, name: string, missing: string): string {
  const value = Object.hasOwn(table, name) ? table[name] : undefined;
  if (value === undefined) throw new SquallError('SQ_PLAN', `${missing} ${name}`);
  return value;
}
