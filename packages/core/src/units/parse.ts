import { SquallError } from '../errors/index.ts';

/**
 * Values with units, as people write them: `200ms`, `1KiB`, `50k/s`, `2M`, `99.9%`.
 *
 * Every function takes the text (or, from YAML, a bare number), returns one plain number in the base
 * unit and throws SquallError SQ_UNIT, which names the units, for everything else. Decimal factors
 * are applied in decimal (`1.1k` is exactly 1100).
 */
type Decimal = { readonly exponent: number };
type Factor = { readonly factor: number };

const NUMBER = String.raw`(\d+(?:\.\d+)?)`;
/** Longer texts are not values: keeps hostile input away from the patterns. */
const MAX_VALUE_LENGTH = 64;

const DURATIONS: Readonly<Record<string, number>> = {
  us: 1,
  µs: 1,
  μs: 1,
  ms: 1_000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
};
const SIZES: Readonly<Record<string, Decimal | Factor>> = {
  B: { exponent: 0 },
  KB: { exponent: 3 },
  MB: { exponent: 6 },
  GB: { exponent: 9 },
  TB: { exponent: 12 },
  KiB: { factor: 1024 },
  MiB: { factor: 1024 ** 2 },
  GiB: { factor: 1024 ** 3 },
  TiB: { factor: 1024 ** 4 },
};
const COUNTS: Readonly<Record<string, Decimal>> = {
  '': { exponent: 0 },
  k: { exponent: 3 },
  M: { exponent: 6 },
  G: { exponent: 9 },
};
const PER: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

const DURATION_UNITS = 'us, ms, s, m, h';
const SIZE_UNITS = 'B, KB, MB, GB, TB, KiB, MiB, GiB, TiB';
const RATE_UNITS = '/s, /m, /h';
const COUNT_SUFFIXES = 'k, M, G';

/** `200ms`, `2s`, `1h30m` → µs. */
export function parseDuration(input: unknown): number {
  const text = textOf(input, durationHint);
  const part = new RegExp(`${NUMBER}(us|µs|μs|ms|s|m|h)`, 'y');
  let total = 0;
  let largest = Number.POSITIVE_INFINITY;
  let at = 0;
  while (at < text.length) {
    part.lastIndex = at;
    const match = part.exec(text);
    const unit = match === null ? undefined : DURATIONS[match[2] ?? ''];
    // Parts must fall (`1h30m`, not `30m1h`), so a typing error is not added up.
    if (match === null || unit === undefined || unit >= largest) {
      throw wrong(text, 'a duration', durationHint);
    }
    total += Number(match[1]) * unit;
    largest = unit;
    at = part.lastIndex;
  }
  // 2.3 ms are 2,300 µs, not 2,299.9999999999995.
  return finite(Number(total.toPrecision(15)), text);
}

/** `200B`, `1KB`, `1KiB` → bytes, whole. */
export function parseSize(input: unknown): number {
  const text = textOf(input, sizeHint);
  const match = new RegExp(`^${NUMBER}([A-Za-z]+)$`).exec(text);
  const unit = match === null ? undefined : own(SIZES, match[2] ?? '');
  if (match === null || unit === undefined) throw wrong(text, 'a size', sizeHint);
  return whole(scale(match[1] ?? '', unit), text, 'bytes');
}

/** `2000/s`, `12/m`, `50k/s` → a second. Fractions are kept exactly as far as doubles go. */
export function parseRate(input: unknown): number {
  const text = textOf(input, rateHint);
  const match = new RegExp(`^${NUMBER}([A-Za-z]?)/([a-z])$`).exec(text);
  const suffix = match === null ? undefined : own(COUNTS, match[2] ?? '');
  const per = match === null ? undefined : own(PER, match[3] ?? '');
  if (match === null || suffix === undefined || per === undefined) {
    throw wrong(text, 'a rate', rateHint);
  }
  return finite(scale(match[1] ?? '', suffix) / per, text);
}

/** `10MB/s`, `1GiB/m` → bytes a second. */
export function parseByteRate(input: unknown): number {
  const text = textOf(input, byteRateHint);
  const match = new RegExp(`^${NUMBER}([A-Za-z]+)/([a-z])$`).exec(text);
  const unit = match === null ? undefined : own(SIZES, match[2] ?? '');
  const per = match === null ? undefined : own(PER, match[3] ?? '');
  if (match === null || unit === undefined || per === undefined) {
    throw wrong(text, 'a byte rate', byteRateHint);
  }
  return finite(scale(match[1] ?? '', unit) / per, text);
}

/** `100`, `100k`, `2M` → a whole number. The only value that needs no unit. */
export function parseCount(input: unknown): number {
  if (typeof input === 'number') return whole(input, String(input), 'things');
  const text = textOf(input, countHint);
  const match = new RegExp(`^${NUMBER}([A-Za-z]?)$`).exec(text);
  const suffix = match === null ? undefined : own(COUNTS, match[2] ?? '');
  if (match === null || suffix === undefined) throw wrong(text, 'a count', countHint);
  return whole(scale(match[1] ?? '', suffix), text, 'things');
}

/** `99.9%` → 0.999, from 0 to 1. */
export function parseShare(input: unknown): number {
  const text = textOf(input, shareHint);
  const match = new RegExp(`^${NUMBER}%$`).exec(text);
  if (match === null) throw wrong(text, 'a share', shareHint);
  const share = scale(match[1] ?? '', { exponent: -2 });
  if (share > 1) throw wrong(text, 'a share of at most 100%', shareHint);
  return share;
}

const durationHint = `write a number with one of the units ${DURATION_UNITS}, such as 200ms or 5m`;
const sizeHint = `write a number with one of the units ${SIZE_UNITS}, such as 200B or 1KiB`;
const rateHint = `write a number with one of the units ${RATE_UNITS}, such as 2000/s, 50k/s or 12/m`;
const byteRateHint = `write a size over a time, such as 10MB/s or 1GiB/m`;
const countHint = `write a whole number, if you like with ${COUNT_SUFFIXES}, such as 5000, 100k or 2M`;
const shareHint = 'write a number from 0 to 100 with %, such as 99.9%';

function textOf(input: unknown, hint: string): string {
  if (typeof input === 'number') {
    throw new SquallError('SQ_UNIT', `${input} has no unit`, { hint });
  }
  if (typeof input !== 'string') {
    throw new SquallError('SQ_UNIT', 'a value with its unit is missing', { hint });
  }
  const text = input.trim();
  if (text.length > MAX_VALUE_LENGTH) throw wrong(`${text.slice(0, 16)}…`, 'a value', hint);
  if (/^\d+(\.\d+)?$/.test(text) && hint !== countHint) {
    throw new SquallError('SQ_UNIT', `${text} has no unit`, { hint });
  }
  if (text === '') throw new SquallError('SQ_UNIT', 'the value is empty', { hint });
  return text;
}

function scale(digits: string, unit: Decimal | Factor): number {
  return 'factor' in unit ? Number(digits) * unit.factor : Number(`${digits}e${unit.exponent}`);
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function whole(value: number, text: string, what: string): number {
  if (!Number.isFinite(value) || !Number.isInteger(value) || value < 0) {
    throw new SquallError('SQ_UNIT', `${text} is not a whole number of ${what}`);
  }
  if (value > Number.MAX_SAFE_INTEGER) throw tooLarge(text);
  return value;
}

function finite(value: number, text: string): number {
  if (value > Number.MAX_SAFE_INTEGER) throw tooLarge(text);
  return value;
}

function tooLarge(text: string): SquallError {
  return new SquallError('SQ_UNIT', `${text} is too large`, {
    hint: `the largest value is ${Number.MAX_SAFE_INTEGER} in the base unit`,
  });
}

function wrong(text: string, what: string, hint: string): SquallError {
  return new SquallError('SQ_UNIT', `"${text}" is not ${what}`, { hint });
}
