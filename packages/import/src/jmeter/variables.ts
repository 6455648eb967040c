import { BUILT_IN_NAMES } from '@squall/core/template';
import type { Findings } from '../findings.ts';
import { type DraftMap, type DraftValue, inert, joined, noted } from '../plan/draft.ts';
import { callOf, type Call, piecesOf } from './expression.ts';

/** What `${name}` stands for. */
export type Variable =
  | {
      readonly kind: 'text';
      readonly value: string;
      readonly line: number;
      readonly runtime?: boolean;
    }
  | { readonly kind: 'csv' }
  | { readonly kind: 'template'; readonly value: string; readonly perMessage?: boolean };

/** Where a text stands: identities and filters are rendered once a client, messages each time. */
export type TextPlace = 'client' | 'filter' | 'message';

/** Who asks, for what is said about it. */
export interface Asker {
  readonly line: number;
  readonly what: string;
}

const SECRET = /pass|pwd|secret|token|api_?key|credential/i;
/** Variables may name each other; a ring of them ends here. */
const MAX_NESTING = 16;

/** The variables of a JMeter plan, and those of the new plan that came out of them. */
export class Variables {
  readonly findings: Findings;
  readonly #known: ReadonlyMap<string, Variable>;
  readonly #used: Map<string, DraftValue>;
  #nesting = 0;
  #ring = false;

  constructor(findings: Findings, known: ReadonlyMap<string, Variable>, used?: Variables) {
    this.findings = findings;
    this.#known = known;
    this.#used = used === undefined ? new Map() : used.#used;
  }

  /** With more variables, such as the columns of a thread group's CSV file; `vars` are the same. */
  with(more: ReadonlyMap<string, Variable>): Variables {
    return new Variables(this.findings, new Map([...this.#known, ...more]), this);
  }

  get vars(): DraftMap {
    return Object.fromEntries(this.#used);
  }

  isCsv(text: string): boolean {
    return piecesOf(text).some(
      (p) => 'expression' in p && this.#known.get(p.expression)?.kind === 'csv',
    );
  }

  /** Takes a variable into the plan although nothing of the plan may use it by name. */
  offer(name: string): void {
    this.#variable(name);
  }

  /** The text as a template of the plan; what cannot be said is left out and told. */
  template(text: string, place: TextPlace, asker: Asker): string {
    if (this.#nesting >= MAX_NESTING) {
      this.#ring = true;
      return '';
    }
    this.#nesting++;
    const rendered = joined(
      piecesOf(text).map((piece) =>
        'text' in piece ? inert(piece.text) : this.#rendered(piece.expression, place, asker),
      ),
    );
    this.#nesting--;
    if (this.#nesting === 0 && this.#ring) {
      this.#ring = false;
      this.findings.lose(asker.line, asker.what, 'variables that name each other without end');
    }
    return rendered;
  }

  /** The text when it is the same always: with defaults of run-time properties. */
  constant(text: string, depth = 0): string | null {
    if (depth > MAX_NESTING) return null;
    const parts = piecesOf(text).map((piece) =>
      'text' in piece ? piece.text : this.#constantOf(piece.expression, depth + 1),
    );
    return parts.includes(null) ? null : parts.join('');
  }

  number(text: string, fallback: number, asker: Asker): number {
    if (text.trim() === '') return fallback;
    const constant = this.constant(text)?.trim();
    const value = Number(constant ?? Number.NaN);
    if (constant !== undefined && constant !== '' && Number.isFinite(value)) return value;
    this.findings.lose(
      asker.line,
      asker.what,
      `"${text}" is no number that is known; ${fallback} is taken`,
    );
    return fallback;
  }

  /** A number as the plan writes it: as a variable of the plan where it is nothing but one. */
  numberText(
    text: string,
    fallback: number,
    asker: Asker,
  ): { text: string | number; value: number } {
    const value = this.number(text, fallback, asker);
    const [piece, ...others] = piecesOf(text.trim());
    if (piece !== undefined && 'expression' in piece && others.length === 0) {
      const name = this.#asVariable(piece.expression);
      if (name !== null) return { text: name, value };
    }
    return { text: value, value };
  }

  /** A secret: never the value that stands in the plan. */
  secret(text: string, name: string, asker: Asker): string {
    if (this.isCsv(text)) return this.template(text, 'client', asker);
    this.findings.change(
      asker.line,
      asker.what,
      `its ${name} is {{env.${name}}} now: set ${name} where squall runs`,
    );
    return `{{env.${name}}}`;
  }

  #constantOf(expression: string, depth: number): string | null {
    const call = callOf(expression);
    if (call !== null) return this.#constantCall(call, depth);
    const known = this.#known.get(expression.trim());
    return known?.kind === 'text' ? this.constant(known.value, depth) : null;
  }

  #constantCall({ name, args }: Call, depth: number): string | null {
    const values = args.map((arg) => this.constant(arg, depth));
    const [first, second, third] = values;
    if (name === '__P') return second ?? '1';
    if (name === '__property') return third ?? second ?? first ?? null;
    if (name === '__intSum' || name === '__longSum') return sum(values);
    if (/^__(jexl[23]|groovy|javaScript|eval)$/.test(name)) {
      return typeof first === 'string' && /^\s*(-?\d+(\.\d+)?|\w*)\s*$/.test(first)
        ? first.trim()
        : null;
    }
    return null;
  }

  /** `{{name}}` where the expression is a variable of the plan, declared by this. */
  #asVariable(expression: string): string | null {
    const call = callOf(expression);
    if (call === null) return this.#variable(expression.trim());
    if (call.name !== '__P' && call.name !== '__property') return null;
    const key = call.args[0] ?? '';
    const value = this.#constantCall(call, 0);
    return value === null ? null : this.#declare(key, value, `property ${key}`);
  }

  #variable(name: string): string | null {
    const known = this.#known.get(name);
    if (known?.kind !== 'text') return null;
    if (SECRET.test(name)) {
      const secret = name.toUpperCase().replace(/\W+/g, '_');
      return this.secret('', /^[A-Z_]/.test(secret) ? secret : `V_${secret}`, {
        line: known.line,
        what: `variable ${name}`,
      });
    }
    const value = this.constant(known.value);
    const from = known.runtime === true ? 'XMeter run-time variable' : 'user defined variable';
    return value === null ? null : this.#declare(name, value, `${from}, line ${known.line}`);
  }

  #declare(name: string, value: string, why: string): string {
    const plain = name.replace(/[^\w-]+/g, '_').slice(0, 64);
    const fit =
      /^[A-Za-z]/.test(plain) && !BUILT_IN_NAMES.includes(plain)
        ? plain
        : `v_${plain}`.slice(0, 64);
    this.#used.set(fit, noted(inert(value).replace(/\{$/, '{ '), why));
    return `{{${fit}}}`;
  }

  #rendered(expression: string, place: TextPlace, asker: Asker): string {
    const name = this.#asVariable(expression);
    if (name !== null) return name;
    const call = callOf(expression);
    const found =
      call === null ? this.#looked(expression.trim(), place, asker) : callText(call, place);
    const constant = found ?? this.#constantOf(expression, 0);
    if (constant !== null) return found ?? inert(constant);
    this.findings.lose(asker.line, asker.what, `\${${expression}} has no counterpart here`);
    return '';
  }

  #looked(name: string, place: TextPlace, asker: Asker): string | null {
    if (/^__jm__.*__idx$/.test(name)) return place === 'message' ? '{{seq}}' : null;
    const known = this.#known.get(name);
    if (known?.kind === 'csv') return `{{csv.${columnName(name)}}}`;
    if (known?.kind === 'template')
      return known.perMessage && place !== 'message' ? null : known.value;
    // A variable that is not the same always is what it says where it is used.
    return known?.kind === 'text' && !known.value.includes(`\${${name}}`)
      ? this.template(known.value, place, asker)
      : null;
  }
}

/** A column's name as plans take it. */
export function columnName(name: string): string {
  const plain = name.trim().replace(/\W+/g, '_');
  return /^\d|^$/.test(plain) ? `c_${plain}` : plain;
}

function callText(call: Call, place: TextPlace): string | null {
  if (call.name === '__threadNum') return '{{n}}';
  if (place !== 'filter' && call.name === '__UUID') return '{{uuid}}';
  if (place !== 'filter' && call.name === '__Random') return randomText(call);
  return place === 'message' ? eachMessage(call) : null;
}

/** A third argument keeps the number in a variable, for later use. */
function randomText({ args }: Call): string | null {
  const [least = '', most = '', kept = ''] = args.map((arg) => arg.trim());
  const whole = [least, most].every((bound) => /^\d{1,15}$/.test(bound));
  return whole && kept === '' ? `{{random ${least} ${most}}}` : null;
}

function eachMessage({ name, args }: Call): string | null {
  const first = args[0]?.trim() ?? '';
  if (name === '__time') return first === '' ? '{{now}}' : null;
  return name === '__counter' && first.toUpperCase() === 'TRUE' ? '{{seq + 1}}' : null;
}

function sum(values: readonly (string | null)[]): string | null {
  const numbers = values
    .filter((value) => value !== '')
    .map((value) => Number(value ?? Number.NaN));
  const total = numbers.reduce((a, b) => a + b, 0);
  return Number.isFinite(total) ? String(total) : null;
}
