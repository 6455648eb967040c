import type { SquallError } from '@squall/core/errors';
import { nearest } from '@squall/core/text';
import { usage } from '../usage-error.ts';
import { BENCH_FLAGS, type BenchFlag, type BenchKind } from './flags.ts';

/** What a command line says: the values of each flag that stands on it, in its order. */
export class GivenFlags {
  readonly kind: BenchKind;
  /** As it was written, for the head of the plan. */
  readonly words: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(
    kind: BenchKind,
    words: readonly string[],
    values: ReadonlyMap<string, readonly string[]>,
  ) {
    this.kind = kind;
    this.words = words;
    this.#values = values;
  }

  has(long: string): boolean {
    return this.#values.has(long);
  }

  all(long: string): readonly string[] {
    return this.#values.get(long) ?? [];
  }

  /** The last value given, else the flag's own. */
  text(long: string): string {
    return this.all(long).at(-1) ?? flagOf(long).fallback ?? '';
  }

  number(long: string): number {
    return Number(this.text(long));
  }

  on(long: string): boolean {
    return isTrue(this.text(long));
  }

  /** Flags that stand on the line and change nothing here, or cannot be had. */
  fated(fate: 'note' | 'refused'): readonly BenchFlag[] {
    return BENCH_FLAGS.filter(
      (flag) => flag.fate === fate && this.has(flag.long) && !isOff(this.text(flag.long)),
    );
  }
}

const TRUE = ['true', 't', 'yes', 'y', 'on', 'enabled', '1'];
const FALSE = ['false', 'f', 'no', 'n', 'off', 'disabled', '0'];
const isTrue = (text: string) => TRUE.includes(text.toLowerCase());
const isFalse = (text: string) => FALSE.includes(text.toLowerCase());
const isOff = (text: string) => isFalse(text);

function flagOf(long: string): BenchFlag {
  const found = BENCH_FLAGS.find((flag) => flag.long === long);
  if (found === undefined) throw new Error(`no flag ${long}`);
  return found;
}

/**
 * Reads words as emqtt_bench does: `--name value`, `--name=value`, `-n value`, `-nvalue`; a boolean
 * flag stands alone or takes a word such as `true`.
 * @throws SquallError SQ_USAGE with what is wrong.
 */
export function parseFlags(kind: BenchKind, words: readonly string[]): GivenFlags {
  const values = new Map<string, string[]>();
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { flag, spelling, attached } = lookUp(kind, word);
    const value = attached ?? takeValue(flag, spelling, rest);
    values.set(flag.long, [...(values.get(flag.long) ?? []), checked(flag, spelling, value)]);
  }
  return new GivenFlags(kind, words, values);
}

interface Found {
  readonly flag: BenchFlag;
  /** As it was written, for messages. */
  readonly spelling: string;
  readonly attached: string | null;
}

function lookUp(kind: BenchKind, word: string): Found {
  const long = /^--([\w-]+)(?:=(.*))?$/s.exec(word);
  const short = /^-([A-Za-z])(.*)$/s.exec(word);
  const name = long?.[1];
  const flag = BENCH_FLAGS.find((one) =>
    name === undefined ? one.short !== undefined && one.short === short?.[1] : one.long === name,
  );
  if (flag === undefined) throw unknown(kind, word, name);
  if (flag.only !== undefined && !flag.only.includes(kind)) {
    const where = flag.only.map((one) => `bench ${one}`).join(', ');
    throw usage(`${word} is not for bench ${kind}`, `it is for: ${where}`);
  }
  const attached = long === null ? (short?.[2] ?? '') : (long[2] ?? null);
  const spelling = long === null ? `-${flag.short}` : `--${flag.long}`;
  return { flag, spelling, attached: attached === '' && long === null ? null : attached };
}

function unknown(kind: BenchKind, word: string, name: string | undefined): SquallError {
  const known = BENCH_FLAGS.map(({ long }) => long);
  const near = name === undefined ? null : nearest(name, known);
  const hint = near === null ? `see squall bench ${kind} --help` : `did you mean --${near}?`;
  return word.startsWith('-')
    ? usage(`${word} is no flag of emqtt_bench`, hint)
    : usage(`"${word}" belongs to no flag`, hint);
}

function takeValue(flag: BenchFlag, spelling: string, rest: string[]): string {
  const [next] = rest;
  if (flag.form === 'none') return 'true';
  if (flag.form === 'boolean') {
    const given = next !== undefined && (isTrue(next) || isFalse(next));
    return given ? (rest.shift() ?? 'true') : 'true';
  }
  if (next === undefined) throw usage(`${spelling} needs a value`, `it means: ${flag.here}`);
  return rest.shift() ?? '';
}

function checked(flag: BenchFlag, spelling: string, value: string): string {
  if (flag.form === 'number' && !/^\d{1,15}$/.test(value)) {
    throw usage(`${spelling} ${value} is no whole number`, `it means: ${flag.here}`);
  }
  if (flag.form === 'boolean' && !isTrue(value) && !isFalse(value)) {
    throw usage(`${spelling} ${value} is neither true nor false`, 'write true or false');
  }
  return value;
}
