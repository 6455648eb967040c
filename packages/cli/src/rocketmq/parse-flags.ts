import { nearest } from '@squall/core/text';
import { usage } from '../usage-error.ts';
import { TOOL_FLAGS } from './flag-table.ts';
import { TOOL_NAMES, type ToolFlag, type ToolKind } from './flags.ts';

const SECRETS = ['secretKey', 'batchSecretKey'];
const HIDDEN = '***';

/** What a command line of one of their tools says. */
export class ToolWords {
  readonly kind: ToolKind;
  /** As they were written, but for the secret. */
  readonly words: readonly string[];
  readonly #values: ReadonlyMap<string, string>;

  constructor(kind: ToolKind, words: readonly string[], values: ReadonlyMap<string, string>) {
    this.kind = kind;
    this.words = words;
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The value given, else the tool's own. */
  text(name: string): string {
    return this.#values.get(name) ?? fallbackOf(name, this.kind);
  }

  number(name: string): number {
    return Number(this.text(name));
  }

  on(name: string): boolean {
    return this.text(name).toLowerCase() === 'true';
  }

  /** Flags that stand on the line and change nothing here, or cannot be had. */
  fated(fate: 'note' | 'refused'): readonly ToolFlag[] {
    return TOOL_FLAGS.filter((flag) => {
      if (flag.fate !== fate || !this.has(flag.name)) return false;
      return flag.idle === undefined || !isIdle(flag, this.text(flag.name));
    });
  }

  /** The flags that a value comes from, as far as they stand on the line. */
  why(...names: readonly string[]): string | undefined {
    const given = names.flatMap((name) => (this.has(name) ? [`-${flagOf(name).short}`] : []));
    return given.length === 0 ? undefined : given.join(' ');
  }
}

function isIdle({ form, idle = '' }: ToolFlag, value: string): boolean {
  return form === 'boolean' ? value.toLowerCase() === idle : Number(value) === Number(idle);
}

function flagOf(name: string): ToolFlag {
  const found = TOOL_FLAGS.find((flag) => flag.name === name);
  if (found === undefined) throw new Error(`no flag ${name}`);
  return found;
}

function fallbackOf(name: string, kind: ToolKind): string {
  const { fallback = '' } = flagOf(name);
  return typeof fallback === 'string' ? fallback : (fallback[kind] ?? '');
}

/**
 * Reads words as their tools do (commons-cli): `-w 64`, `-w=64`, `-w64`, `--threadCount 64`,
 * `--threadCount=64`; every flag takes a value.
 * @throws SquallError SQ_USAGE with what is wrong.
 */
export function parseToolWords(kind: ToolKind, words: readonly string[]): ToolWords {
  const values = new Map<string, string>();
  const shown: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [next] = rest;
    const { flag, spelling, attached } = lookUp(kind, word, next);
    const value = attached ?? rest.shift();
    if (value === undefined) throw usage(`${spelling} needs a value`, `it means: ${flag.here}`);
    values.set(flag.name, checked(flag, spelling, value));
    const isSecret = SECRETS.includes(flag.name);
    if (isSecret) shown.push(spelling, HIDDEN);
    else shown.push(...(attached === null ? [word, value] : [word]));
  }
  return new ToolWords(kind, shown, values);
}

interface Found {
  readonly flag: ToolFlag;
  /** As it was written, for messages. */
  readonly spelling: string;
  readonly attached: string | null;
}

function lookUp(kind: ToolKind, word: string, next: string | undefined): Found {
  const dashes = /^(--?)([A-Za-z]\w*)(?:=(.*))?$/s.exec(word);
  if (dashes === null) {
    throw usage(`"${word}" belongs to no flag`, `see squall rocketmq ${kind} --help`);
  }
  const [, dash = '', name = '', attached = null] = dashes;
  const known = TOOL_FLAGS.filter(({ of }) => of.includes(kind));
  const named = known.filter(({ long, short }) => (dash === '--' ? long : short) === name);
  const flag = chosen(named, attached ?? next);
  if (flag !== undefined) return { flag, spelling: `${dash}${name}`, attached };
  const digits = /^([A-Za-z])(\d+)$/.exec(name);
  const close = known.find(({ short }) => dash === '-' && short === digits?.[1]);
  if (close !== undefined && attached === null) {
    return { flag: close, spelling: `-${close.short}`, attached: digits?.[2] ?? null };
  }
  throw unknown(kind, `${dash}${name}`, name);
}

/** `-c` of the batch producer is a key in 4.9, and a switch in 5.x: its value tells them apart. */
function chosen(named: readonly ToolFlag[], value: string | undefined): ToolFlag | undefined {
  if (named.length < 2) return named[0];
  const isSwitch = /^(?:true|false)$/i.test(value ?? '');
  return named.find(({ form }) => (form === 'boolean') === isSwitch);
}

function unknown(kind: ToolKind, word: string, name: string): Error {
  const other = TOOL_FLAGS.find(({ long, short }) => long === name || short === name);
  if (other !== undefined) {
    const where = other.of.map((one) => `rocketmq ${one}`).join(', ');
    return usage(`${word} is not for ${TOOL_NAMES[kind]}`, `it is for: ${where}`);
  }
  const near = nearest(
    name,
    TOOL_FLAGS.filter(({ of }) => of.includes(kind)).flatMap(({ long = [] }) => long),
  );
  const hint = near === null ? `see squall rocketmq ${kind} --help` : `did you mean --${near}?`;
  return usage(`${word} is no flag of RocketMQ's ${TOOL_NAMES[kind]}`, hint);
}

function checked(flag: ToolFlag, spelling: string, value: string): string {
  const faults: Readonly<Record<ToolFlag['form'], [pattern: RegExp, what: string]>> = {
    text: [/^[^]+$/, 'is empty'],
    number: [/^\d{1,15}$/, 'is no whole number'],
    boolean: [/^(?:true|false)$/i, 'is neither true nor false'],
    share: [/^(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)$/, 'is no share: 0.0 to 1.0'],
  };
  const [pattern, what] = faults[flag.form];
  const text = value.trim();
  if (pattern.test(text)) return text;
  throw usage(`${spelling} ${value} ${what}`, `it means: ${flag.here}`);
}
