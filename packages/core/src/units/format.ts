/**
 * Numbers back to text for people: reports, the terminal, messages. What they print can be read back
 * by `parse…` (thousands separators of counts aside), rounded to four significant digits where a
 * longer figure would only pretend to be more exact.
 */
const SIGNIFICANT_DIGITS = 4;
const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;

/** `12.35ms`, `2s`, `1h30m`. A minute and more is given in whole milliseconds. */
export function formatDuration(us: number): string {
  if (us < 0) return `-${formatDuration(-us)}`;
  if (!Number.isFinite(us)) return '∞';
  if (us < 1_000) return unit(us, 'us', 1_000) ?? '1ms';
  if (us < SECOND_US) return unit(us / 1_000, 'ms', 1_000) ?? '1s';
  if (us < MINUTE_US) return unit(us / SECOND_US, 's', 60) ?? '1m';
  const rounded = Math.round(us / 1_000) * 1_000;
  const hours = Math.floor(rounded / HOUR_US);
  const minutes = Math.floor((rounded % HOUR_US) / MINUTE_US);
  const seconds = (rounded % MINUTE_US) / SECOND_US;
  return [
    hours > 0 ? `${hours}h` : '',
    minutes > 0 ? `${minutes}m` : '',
    seconds > 0 ? `${seconds}s` : '',
  ].join('');
}

/** `2000/s`, `50k/s`; below one a second in minutes or hours: `12/m`, `6/h`. */
export function formatRate(perS: number): string {
  if (perS >= 1 || perS <= 0 || !Number.isFinite(perS)) return `${compact(perS)}/s`;
  if (perS * 60 >= 1) return `${compact(perS * 60)}/m`;
  return `${compact(perS * 3_600)}/h`;
}

/** `200B`, `1.5KB`, `100GB`: decimal units. */
export function formatBytes(bytes: number): string {
  if (bytes < 0) return `-${formatBytes(-bytes)}`;
  return withPrefix(bytes, { names: ['B', 'KB', 'MB', 'GB', 'TB'], from: 1_000 });
}

/** Exact, with thousands separators: `1,234,567`. */
export function formatCount(count: number): string {
  const [integer = '', fraction] = String(count).split('.');
  const grouped = integer.replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `99.9%` from 0.999. */
export function formatShare(share: number): string {
  return `${round(share * 100)}%`;
}

/** Four significant digits at most, no exponent: `9999`, `12.35k`, `2M`. */
function compact(value: number): string {
  if (value < 0) return `-${compact(-value)}`;
  return withPrefix(value, { names: ['', 'k', 'M', 'G'], from: 10_000 });
}

function withPrefix(
  value: number,
  { names, from }: { readonly names: readonly string[]; readonly from: number },
): string {
  let power = 0;
  // Rounding may carry into the next unit (999.96 KB → 1 MB), so the rounded figure decides.
  let figure = round(value);
  while (figure >= (power === 0 ? from : 1_000) && power < names.length - 1) {
    power++;
    figure = round(value / 1_000 ** power);
  }
  return `${figure}${names[power] ?? ''}`;
}

/** Undefined where rounding reaches `limit`, the next unit. */
function unit(value: number, name: string, limit: number): string | undefined {
  const figure = round(value);
  return figure >= limit ? undefined : `${figure}${name}`;
}

function round(value: number): number {
  // Below this the figure would need an exponent, and no unit here measures that finely.
  if (Math.abs(value) < 0.0001) return 0;
  return Number(value.toPrecision(SIGNIFICANT_DIGITS));
}
