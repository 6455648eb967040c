import { ProbeError } from '../probe.ts';

export type JsonMap = Readonly<Record<string, unknown>>;

/** @throws ProbeError `not JSON`, as where a proxy answers with a page for people */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = text.trimStart().startsWith('<') ? 'it is HTML or XML' : undefined;
    throw new ProbeError('not JSON', detail, error);
  }
}

/** @throws ProbeError `unexpected answer` */
export function mapOf(value: unknown, what: string): JsonMap {
  if (isMap(value)) return value;
  throw new ProbeError('unexpected answer', `${what} is no object`);
}

/** The objects of a list; whatever else stands in it is left out. @throws ProbeError where it is none */
export function mapsOf(value: unknown, what: string): JsonMap[] {
  if (!Array.isArray(value)) throw new ProbeError('unexpected answer', `${what} is no list`);
  return value.filter(isMap);
}

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null where it is no finite number; some servers write numbers as text. */
export function numberIn(map: JsonMap, key: string): number | null {
  const value = map[key];
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

export function textIn(map: JsonMap, key: string): string {
  const value = map[key];
  return typeof value === 'string' ? value : '';
}
