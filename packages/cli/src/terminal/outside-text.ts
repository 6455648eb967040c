import type { Report } from '@squall/core/report';
import { formatBytes, formatCount, formatDuration, formatShare } from '@squall/core/units';
import type { Style } from './style.ts';
import { textTable } from './text-table.ts';

/** Figures of a probe that a person reads; the others stand in report.json. */
const MAX_FIGURES_SHOWN = 12;

/** The sides of each equation, and how far they are apart. */
export function balanceLines({ balance }: Report, style: Style): string[] {
  if (balance.length === 0) return [];
  const rows = balance.map(({ equation, values, difference, share, settledAfterUs, state }) => {
    const mark = state === 'pass' ? style.green('pass') : style.red(state);
    const sides = Object.values(values).map(formatCount).join(' : ');
    const apart =
      difference === 0
        ? ''
        : `${difference > 0 ? '+' : '−'}${formatCount(Math.abs(difference))} (${formatShare(Math.abs(share))})`;
    const after = settledAfterUs === null ? '' : `settled after ${formatDuration(settledAfterUs)}`;
    return [mark, equation, sides, apart, after];
  });
  return ['balance', ...textTable(rows, { indent: 2 })];
}

/** What the probes read, and how often they could not. */
export function probeLines({ probes }: Report, style: Style): string[] {
  const rows = Object.entries(probes).flatMap(([name, probe]) => {
    const { readings, errors } = probe;
    const figures = Object.entries(probe).flatMap(([figure, value]) =>
      isFigure(value) ? [[`${name}.${figure}`, ...columns(value)]] : [],
    );
    const failed =
      errors === 0 ? [] : [[name, `${errors} of ${readings + errors} readings failed`]];
    return [...failed, ...figures.slice(0, MAX_FIGURES_SHOWN)];
  });
  if (rows.length === 0) return [];
  const head = ['probes', 'mean', 'max', 'last', 'increase'].map((text) => style.dim(text));
  return textTable([head, ...rows], { alignRight: true });
}

type Figure = Extract<Report['probes'][string][string], { readonly kind: string }>;

function isFigure(value: unknown): value is Figure {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

function columns({ kind, unit, mean, max, last, increase }: Figure): string[] {
  const show = (value: number) => format(value, unit);
  if (kind === 'counter') return ['', '', show(last), show(increase)];
  return [show(mean), show(max), show(last), ''];
}

function format(value: number, unit: Figure['unit']): string {
  switch (unit) {
    case 'bytes':
      return formatBytes(value);
    case 'bytes_per_second':
      return `${formatBytes(value)}/s`;
    case 'seconds':
      return formatDuration(value * 1e6);
    case 'share':
      return formatShare(value);
    case 'count':
    case 'per_second':
    case null:
      // Counted things are told exactly, means are not.
      return formatCount(Number.isInteger(value) ? value : Number(value.toPrecision(4)));
  }
}
