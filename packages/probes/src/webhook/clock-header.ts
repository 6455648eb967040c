import { isMap, numberIn } from '../http/json-value.ts';
import type { SeenClock } from './hook-clocks.ts';

/**
 * How a run tells a hook on another host of the publishers' clocks: a header of `GET /stats`, JSON, a
 * list of `[domain, offsetUs, boundUs]` as seen from the hook.
 */
export const CLOCKS_HEADER = 'squall-clocks';
/** Clocks of one run that are told; a header has room for no more. */
const MAX_CLOCKS = 200;

export function clocksHeader(clocks: readonly SeenClock[]): string {
  const rows = clocks
    .slice(0, MAX_CLOCKS)
    .map(({ domain, offsetUs, boundUs }) => [domain, Math.round(offsetUs), Math.ceil(boundUs)]);
  return JSON.stringify(rows);
}

/** Null where it is none. */
export function readClocksHeader(text: string): SeenClock[] | null {
  try {
    const rows: unknown = JSON.parse(text);
    if (!Array.isArray(rows) || rows.length > MAX_CLOCKS) return null;
    return rows.map((row: unknown) => clockOf(row));
  } catch {
    return null;
  }
}

function clockOf(row: unknown): SeenClock {
  const [domain, offsetUs, boundUs] = Array.isArray(row) ? row.map(Number) : [];
  if (!isFinite(domain) || !isFinite(offsetUs) || !isFinite(boundUs)) throw new RangeError();
  return { domain, offsetUs, boundUs: Math.max(0, boundUs) };
}

function isFinite(value: number | undefined): value is number {
  return Number.isFinite(value);
}

/** The clock of the hook by its page: its domain's hash, and what it showed. */
export interface HookClock {
  readonly domain: number;
  readonly nowUs: number;
}

/** Null where the page says nothing of it. */
export function hookClockOf(value: unknown): HookClock | null {
  if (!isMap(value)) return null;
  const domain = numberIn(value, 'domain');
  const nowUs = numberIn(value, 'nowUs');
  return domain === null || nowUs === null ? null : { domain, nowUs };
}
