import { z } from 'zod';
import { type ErrorCode, SquallError } from '../../errors/index.ts';
import { nearest } from '../../text/nearest.ts';
import { parseCount, parseDuration, parseRate, parseShare, parseSize } from '../../units/index.ts';
import { MAX_DURATION_US } from '../limits.ts';
import { notSupported } from '../problem.ts';

/** What a check adds to zod's own issue: read again by `issues.ts`. */
export interface Fault {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly code?: ErrorCode | undefined;
  readonly column?: number | undefined;
  readonly atKey?: boolean | undefined;
}

type Context = z.core.$RefinementCtx;

export function addFault(context: Context, { message, ...params }: Fault): never {
  context.addIssue({ code: 'custom', message, params });
  return z.NEVER;
}

/** A map with these keys and no others. Its error carries the known keys, for the hint. */
export function strictMap<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? Object.keys(shape).join(' ') : undefined,
  });
}

/** Described in the language, checked for shape, and refused by name. `what` ends in its verb. */
export function notYet<Schema extends z.ZodType>(schema: Schema, what: string) {
  return schema
    .superRefine((_value, context) => {
      addFault(context, { message: notSupported(what), code: 'SQ_UNSUPPORTED', atKey: true });
    })
    .meta({ 'x-not-yet': true });
}

const scalar = z.union([z.string(), z.number()]);

/** How an editor sees values with units. */
const SHAPES = {
  duration: String.raw`^(\d+(\.\d+)?(us|µs|ms|s|m|h))+$`,
  size: String.raw`^\d+(\.\d+)?(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$`,
  rate: String.raw`^\d+(\.\d+)?[kMG]?/[smh]$`,
  count: String.raw`^\d+(\.\d+)?[kMG]?$`,
  share: String.raw`^\d+(\.\d+)?%$`,
};
/** A variable may stand for any of them. */
const VARIABLE = String.raw`\{\{`;

interface Range {
  readonly min?: number;
  readonly max?: number;
  /** How the bounds are told. */
  readonly range: string;
}

interface UnitLeaf {
  readonly parse: (input: unknown) => number;
  readonly shape: keyof typeof SHAPES;
  readonly unit: string;
  readonly example: string;
  readonly bounds: Range | undefined;
}

function unitLeaf({ parse, shape, unit, example, bounds }: UnitLeaf) {
  return scalar
    .transform((input, context): number => {
      const value = parsed(parse, input, context);
      if (value === null || bounds === undefined) return value ?? z.NEVER;
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, range } = bounds;
      if (value >= min && value <= max) return value;
      return addFault(context, { message: `${String(input)} is out of range: ${range}` });
    })
    .meta({
      'x-unit': unit,
      type: shape === 'count' ? ['string', 'integer'] : 'string',
      pattern: `${SHAPES[shape]}|${VARIABLE}`,
      'x-example': example,
    });
}

function parsed(
  parse: (input: unknown) => number,
  input: string | number,
  context: Context,
): number | null {
  try {
    return parse(input);
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    const { message, hint, code } = error;
    addFault(context, { message, hint, code });
    return null;
  }
}

const POSITIVE: Range = { min: Number.MIN_VALUE, range: 'it must be above 0' };
const ANY_DURATION: Range = { max: MAX_DURATION_US, range: 'at most 366 days' };
const SOME_DURATION: Range = {
  min: 1,
  max: MAX_DURATION_US,
  range: 'at least 1us, at most 366 days',
};

/** µs, 0 included. */
export const duration = (bounds: Range = ANY_DURATION) =>
  unitLeaf({
    parse: parseDuration,
    shape: 'duration',
    unit: 'duration',
    example: '10s',
    bounds,
  });

/** µs, above 0. */
export const someDuration = () => duration(SOME_DURATION);

/** Bytes. */
export const size = () =>
  unitLeaf({
    parse: parseSize,
    shape: 'size',
    unit: 'size',
    example: '200B',
    bounds: undefined,
  });

/** A second, above 0. */
export const rate = () =>
  unitLeaf({
    parse: parseRate,
    shape: 'rate',
    unit: 'rate',
    example: '2000/s',
    bounds: POSITIVE,
  });

/** A second, 0 included. */
export const rateOrNone = () =>
  unitLeaf({ parse: parseRate, shape: 'rate', unit: 'rate', example: '2000/s', bounds: undefined });

/** Whole. */
export const count = (bounds?: Range) =>
  unitLeaf({
    parse: parseCount,
    shape: 'count',
    unit: 'count',
    example: '100k',
    bounds,
  });

/** From 0 to 1. */
export const share = () =>
  unitLeaf({
    parse: parseShare,
    shape: 'share',
    unit: 'share',
    example: '0.1%',
    bounds: undefined,
  });

/** A rate, or `max`: as fast as it goes. */
export const rateOrMax = () =>
  z.union([z.literal('max'), rate()]).meta({ 'x-unit': 'rate or `max`' });

/** One word of a few. Numbers and booleans are taken for what they look like (`version: 5`). */
export function choice<const Word extends string>(
  words: readonly Word[],
  refused?: Readonly<Partial<Record<NoInfer<Word>, string>>>,
) {
  const forEditors = words.flatMap((word): (string | number | boolean)[] => {
    if (word === 'true' || word === 'false') return [word === 'true'];
    return /^\d+(\.\d+)?$/.test(word) ? [Number(word), word] : [word];
  });
  return z
    .union([z.string(), z.number(), z.boolean()])
    .transform((input, context): Word => {
      const word = words.find((known) => known === String(input));
      if (word === undefined) {
        const near = nearest(String(input), words);
        const hint = near === null ? undefined : `did you mean ${near}?`;
        return addFault(context, {
          message: `${JSON.stringify(input)} is not one of ${words.join(', ')}`,
          hint,
        });
      }
      const what = refused?.[word];
      if (what === undefined) return word;
      return addFault(context, { message: notSupported(what), code: 'SQ_UNSUPPORTED' });
    })
    .meta({
      enum: forEditors,
      ...(refused === undefined ? {} : { 'x-not-yet-words': Object.keys(refused) }),
    });
}

/** True or false; variables give the words as text. */
export const flag = () =>
  choice(['true', 'false'])
    .transform((word) => word === 'true')
    .meta({ type: 'boolean', enum: undefined });

/** Plain text without template expressions. */
export const plainText = (maxLength = 4_096) =>
  z.string().superRefine((text, context) => {
    if (text.length > maxLength) {
      addFault(context, { message: `this text is longer than ${maxLength} characters` });
    }
  });

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
export const NAME_HINT = 'a name begins with a letter and has letters, digits, - and _, 64 at most';

/** The name of a group, a stage, a stream … */
export const name = () =>
  z
    .string()
    .superRefine((text, context) => {
      if (NAME.test(text)) return;
      addFault(context, { message: `"${text.slice(0, 80)}" is not a name`, hint: NAME_HINT });
    })
    .meta({ pattern: NAME.source });

/** A map whose keys are names. */
export const named = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string().regex(NAME), value);

export const oneOrMore = <Value extends z.ZodType>(value: Value) =>
  z.union([value, z.array(value).min(1)]);
