import { formatBytes, formatCount, formatDuration, formatShare } from '@squall/core/units';

/** What a number means, where it is drawn. */
export type Unit =
  | 'us'
  | 'count'
  | 'per_second'
  | 'bytes'
  | 'bytes_per_second'
  | 'share'
  | 'seconds';

const K = 1_000;
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'];
const SIGNIFICANT_DIGITS = 3;

/** For axes and read-outs: three significant digits, SI prefixes. */
export function short(value: number, unit: Unit): string {
  switch (unit) {
    case 'us':
      return spaced(formatDuration(rounded(value)));
    case 'seconds':
      return spaced(formatDuration(rounded(value * K * K)));
    case 'share':
      return formatShare(rounded(value));
    case 'bytes':
      return spaced(formatBytes(rounded(value)));
    case 'bytes_per_second':
      return `${spaced(formatBytes(rounded(value)))}/s`;
    case 'count':
      return withPrefix(value);
    case 'per_second':
      return `${withPrefix(value)}/s`;
  }
}

/** Exact counts with thousands separators; times as people write them. */
export function exact(value: number, unit: Unit): string {
  if (unit === 'count') return formatCount(Math.round(value * K) / K);
  return short(value, unit);
}

export function duration(us: number): string {
  return spaced(formatDuration(us));
}

/** `12.35ms` → `12.35 ms`, and the sign for micro. */
function spaced(text: string): string {
  return text
    .replace(/us$/, 'µs')
    .replaceAll(/(\d)(?=[a-zA-Zµ])/g, '$1\u00A0')
    .replaceAll(/([hm])(?=\d)/g, '$1\u00A0')
    .replaceAll(/m(?![a-zA-Z])/g, 'min');
}

function rounded(value: number): number {
  return value === 0 || !Number.isFinite(value)
    ? value
    : Number(value.toPrecision(SIGNIFICANT_DIGITS));
}

function withPrefix(value: number): string {
  if (value < 0) return `−${withPrefix(-value)}`;
  let power = 0;
  let figure = rounded(value);
  while (figure >= 10 * K ** (power === 0 ? 1 : 0) && figure >= K && power < PREFIXES.length - 1) {
    power++;
    figure = rounded(value / K ** power);
  }
  return `${figure}${power === 0 ? '' : `\u00A0${PREFIXES[power] ?? ''}`}`;
}
