import { SquallError } from '../errors/index.ts';

/** Hand-written checks of what arrives in a frame: each gives the value or throws SQ_FRAME. */

/** Characters of a name, a reason or an address: a client id of MQTT may be as long. */
export const MAX_TEXT = 65_536;
/** Stages of a plan, as far as frames and stamps can tell them apart. */
export const MAX_STAGES = 256;

export type Fields = Readonly<Record<string, unknown>>;

/** Only named fields are ever read from it, so a `__proto__` in the JSON is a field like any other. */
export function record(value: unknown, path: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse(path, 'is not an object');
  }
  return Object.fromEntries(Object.entries(value));
}

export function list(value: unknown, path: string, limit: number): readonly unknown[] {
  if (!Array.isArray(value)) throw refuse(path, 'is not a list');
  if (value.length > limit) throw refuse(path, `has more than ${limit} entries`);
  return value;
}

export function text(value: unknown, path: string, shortest = 1): string {
  if (typeof value !== 'string') throw refuse(path, 'is not a text');
  if (value.length < shortest || value.length > MAX_TEXT)
    throw refuse(path, 'is too short or long');
  return value;
}

export function whole(value: unknown, path: string, lowest: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < lowest) {
    throw refuse(path, `is not a whole number of at least ${lowest}`);
  }
  return value;
}

export function finite(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw refuse(path, 'is not a number');
  return value;
}

export function refuse(path: string, problem: string): SquallError {
  return new SquallError('SQ_FRAME', `a measurement frame is not well formed: ${path} ${problem}`, {
    path,
    hint: 'agents and controller must be of the same version',
  });
}
