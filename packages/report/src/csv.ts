import type { Report } from '@squall/core/report';

/**
 * The time line as CSV [RFC 4180]: a row a step (a second, in runs of up to an hour), a column a
 * curve. The first columns say when the step began (UTC and seconds since the load began) and which
 * stage was on. A cell is empty where nothing was measured.
 */
export function toCsv({ timeline }: Report): string {
  const { series, stepUs, startedAt } = timeline;
  const startMs = Date.parse(startedAt);
  const steps = series.reduce((most, { values }) => Math.max(most, values.length), 0);
  const lines = [['time', 'elapsed_s', 'stage', ...series.map(columnOf)]];
  for (let step = 0; step < steps; step++) {
    const us = step * stepUs;
    lines.push([
      new Date(startMs + us / 1_000).toISOString(),
      String(us / 1_000_000),
      stageAt(timeline.stages, us),
      ...series.map(({ values }) => cellOf(values[step] ?? null)),
    ]);
  }
  return lines.map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('');
}

/** `publish_time{group=devices} p99`: what is no label of the curve is its unit. */
function columnOf({ metric, labels }: Report['timeline']['series'][number]): string {
  const { stat, ...others } = labels;
  const told = Object.entries(others).map(([key, value]) => `${key}=${value}`);
  const unit = stat === 'p50' || stat === 'p99' ? `${stat} (us)` : stat === 'rate' ? 'per s' : '';
  return `${metric}{${told.join(',')}}${unit === '' ? '' : ` ${unit}`}`;
}

function stageAt(stages: Report['timeline']['stages'], us: number): string {
  return stages.findLast(({ fromUs, toUs }) => fromUs <= us && us < toUs)?.name ?? '';
}

function cellOf(value: number | null): string {
  return value === null ? '' : String(value);
}

/** What a spreadsheet would take for a formula gets an apostrophe before it; numbers are none. */
function quoted(cell: string): string {
  const safe = /^[=+@\t\r]/.test(cell) || /^-(?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
