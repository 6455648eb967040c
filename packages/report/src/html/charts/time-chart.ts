import type { Report } from '@squall/core/report';
import { type Html, html } from '../markup.ts';
import { duration, short, type Unit } from '../numbers.ts';
import { both, type Both, say } from '../words.ts';
import { timeAxis, valueAxis } from './axis.ts';
import { type Column, columnsFor, envelope } from './columns.ts';
import { chartFrame, type Tick } from './frame.ts';
import { linePath, usualGap } from './path.ts';

export interface Curve {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface TimeChart {
  readonly id: string;
  readonly title: Html;
  readonly unit: Unit;
  readonly curves: readonly Curve[];
  /** Read every few seconds, and meant to be seen as one line all the same. */
  readonly sparse?: boolean;
}

const UNIT_NAMES: Readonly<Record<Unit, Both>> = {
  us: ['time', '时间'],
  seconds: ['time', '时间'],
  count: ['count', '个数'],
  per_second: ['per second', '每秒'],
  bytes: ['bytes', '字节'],
  bytes_per_second: ['bytes per second', '字节每秒'],
  share: ['share', '占比'],
};

/** Ticks below a chart: as many as a phone has room for. */
const X_TICKS = 5;
/** Rows of the table beside a chart. */
const TABLE_ROWS = 30;
/** Digits of the numbers that the pointer reads. */
const READ_DIGITS = 4;

/** Curves over the run's time, with its stages. */
export function timeChart(chart: TimeChart, { timeline, stages }: Report): Html {
  const { id, title, unit, curves } = chart;
  const warmups = new Set(stages.filter(({ warmup }) => warmup).map(({ name }) => name));
  const { stepUs } = timeline;
  const length = curves.reduce((most, { values }) => Math.max(most, values.length), 1);
  const columns = columnsFor(length);
  const drawn = curves.map(({ name, values }) => ({ name, columns: envelope(values, columns) }));
  const endUs = length * stepUs;
  const x = timeAxis(endUs, X_TICKS);
  const { axis: y, ticks } = valueTicks(
    drawn.flatMap((one) => one.columns),
    unit,
  );
  const columnUs = columns.steps * stepUs;
  const across = (column: number) => Math.min(1, ((column + 0.5) * columnUs) / endUs);
  return chartFrame({
    id,
    title,
    unit: UNIT_NAMES[unit],
    remarks: remarksOf({ logarithmic: y.logarithmic, columnUs, steps: columns.steps }),
    x: x.ticks.map((us) => ({ at: x.at(us), text: us === 0 ? '0' : duration(us) })),
    y: ticks,
    bands: timeline.stages.map(({ name, fromUs, toUs }) => ({
      name,
      from: within(fromUs / endUs),
      to: within(toUs / endUs),
      warmup: warmups.has(name),
    })),
    curves: drawn.map((one) => ({
      name: one.name,
      ...linePath(one.columns, { x: across, y: y.at }, chart.sparse ? usualGap(one.columns) : 1),
    })),
    kind: 'lines',
    readout: {
      unit,
      stepUs: columnUs,
      names: curves.map(({ name }) => name),
      values: drawn.map((one) => one.columns.map(readable)),
    },
    table: tableOf(chart, stepUs, length),
  });
}

/** The axis of values and what stands beside it. */
function valueTicks(columns: readonly Column[], unit: Unit) {
  let [low, high, positive] = [0, 0, Infinity];
  for (const column of columns) {
    if (column === null) continue;
    low = Math.min(low, column[0]);
    high = Math.max(high, column[1]);
    for (const value of column) if (value > 0) positive = Math.min(positive, value);
  }
  const axis = valueAxis(low < 0 || positive === Infinity ? low : positive, high, unit);
  const ticks: Tick[] = axis.ticks.map((value, at) => ({
    at: axis.at(value),
    // What is lower, 0 included, lies there, too.
    text: `${axis.logarithmic && at === 0 ? '≤ ' : ''}${short(value, unit)}`,
  }));
  return { axis, ticks };
}

function remarksOf(options: {
  readonly logarithmic: boolean;
  readonly columnUs: number;
  readonly steps: number;
}): Html[] {
  const { logarithmic, columnUs, steps } = options;
  return [
    ...(logarithmic ? [say('logScale')] : []),
    ...(steps > 1
      ? [
          html`${say('columnOf')}: ${duration(columnUs)}, ${both(['line: highest, band: down to the lowest', '线为最高，色带至最低'])}`,
        ]
      : []),
  ];
}

/** One number where both ends are the same. */
function readable(column: Column): number | readonly number[] | null {
  if (column === null) return null;
  const [low, high] = column.map((value) => Number(value.toPrecision(READ_DIGITS)));
  return low === high ? (low ?? null) : [low ?? 0, high ?? 0];
}

/** The same figures in rows: of many steps the lowest and highest. */
function tableOf({ curves, unit }: TimeChart, stepUs: number, length: number): Html {
  const columns = columnsFor(length, TABLE_ROWS);
  const drawn = curves.map(({ values }) => envelope(values, columns));
  const rows = Array.from({ length: columns.count }, (_, row) => {
    const fromUs = row * columns.steps * stepUs;
    return html`<tr><th scope="row">${fromUs === 0 ? '0' : duration(fromUs)}</th>${drawn.map((one) => html`<td>${cellOf(one[row] ?? null, unit)}</td>`)}</tr>`;
  });
  return html`<div class="wide"><table class="numbers"><thead><tr><th scope="col">${say('time')}</th>${curves.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function cellOf(column: Column, unit: Unit): string {
  if (column === null) return '–';
  const [low, high] = [short(column[0], unit), short(column[1], unit)];
  return low === high ? low : `${low} … ${high}`;
}

function within(share: number): number {
  return Math.min(1, Math.max(0, share));
}
