import type { Report } from '@squall/core/report';
import { type Html, html, said } from '../markup.ts';
import { exact, short } from '../numbers.ts';
import { say } from '../words.ts';
import { linearAxis, logAxis } from './axis.ts';
import { MAX_CURVES } from './dashes.ts';
import { chartFrame } from './frame.ts';
import { barPath, pointPath } from './path.ts';

type Distribution = Report['histograms'][number];

/** Percentiles that have a mark; each is ten times rarer than the one before. */
const MARKS = [0, 50, 90, 99, 99.9, 99.99, 99.999];
/** Points of a curve at most. */
const MAX_POINTS = 240;
/** Bars a power of two of time is cut into. */
const BARS_AN_OCTAVE = 4;

/** Percentile curves of one metric, a curve a stage. */
export function percentileChart(id: string, metric: string, all: readonly Distribution[]): Html {
  const shown = all.slice(0, MAX_CURVES);
  const most = Math.max(...shown.map(countOf));
  // One in so many is the rarest that the times of the fullest curve can tell.
  const depth = Math.min(5, Math.max(1, Math.ceil(Math.log10(most))));
  const x = (share: number) => Math.min(1, -Math.log10(Math.max(1 - share, 10 ** -depth)) / depth);
  const y = logAxis(Math.min(...shown.map(({ minUs }) => minUs)), Math.max(...shown.map(maxOf)));
  return chartFrame({
    id,
    title: html`<code>${metric}</code>`,
    unit: ['time by percentile', '各百分位的时间'],
    remarks: [say('logScale')],
    x: MARKS.filter((mark) => -Math.log10(1 - mark / 100) <= depth + 0.001).map((mark) => ({
      at: x(mark / 100),
      text: mark === 0 ? '' : `p${mark}`,
    })),
    y: y.ticks.map((us) => ({ at: y.at(us), text: short(us, 'us') })),
    bands: [],
    curves: shown.map((one) => ({
      name: nameOf(one),
      path: pointPath(thinned(stairs(one)).map(([share, us]) => [x(share), y.at(us)])),
    })),
    kind: 'lines',
    readout: null,
    table: percentileTable(shown),
  });
}

/** How the times of one distribution are spread. */
export function histogramChart(id: string, one: Distribution): Html {
  const bars = barsOf(one);
  const y = linearAxis(0, Math.max(...bars.map(({ count }) => count)));
  const x = logAxis(one.minUs, maxOf(one));
  return chartFrame({
    id,
    title: html`<code>${one.metric}</code> ${said(nameOf(one))}`,
    unit: ['times in each range', '各区间的次数'],
    remarks: [],
    x: x.ticks.map((us) => ({ at: x.at(us), text: short(us, 'us') })),
    y: y.ticks.map((count) => ({ at: y.at(count), text: short(count, 'count') })),
    bands: [],
    curves: [
      {
        name: nameOf(one),
        path: barPath(
          bars.map(({ fromUs, toUs, count }) => ({
            from: x.at(fromUs),
            to: x.at(toUs),
            height: y.at(count),
          })),
        ),
      },
    ],
    kind: 'bars',
    readout: null,
    table: html`<div class="wide"><table class="numbers"><thead><tr><th scope="col">${say('from')}</th><th scope="col">${say('to')}</th><th scope="col">${say('count')}</th></tr></thead><tbody>${bars.map(({ fromUs, toUs, count }) => html`<tr><td>${short(fromUs, 'us')}</td><td>${short(toUs, 'us')}</td><td>${exact(count, 'count')}</td></tr>`)}</tbody></table></div>`,
  });
}

function nameOf({ group, stage }: Distribution): string {
  return `${group} · ${stage}`;
}

function countOf({ counts }: Distribution): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function maxOf({ upToUs }: Distribution): number {
  return upToUs.at(-1) ?? 0;
}

/** Share of the times below each bucket's end. */
function stairs({ minUs, upToUs, counts }: Distribution): (readonly [share: number, us: number])[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  const points: (readonly [number, number])[] = [[0, minUs]];
  upToUs.forEach((us, at) => {
    points.push([seen / total, us]);
    seen += counts[at] ?? 0;
    points.push([seen / total, us]);
  });
  return points;
}

/** Keeps the rare end, where each point counts, and thins out the rest evenly. */
function thinned<T>(points: readonly T[]): readonly T[] {
  if (points.length <= MAX_POINTS) return points;
  const tail = Math.floor(MAX_POINTS / 2);
  const head = points.length - tail;
  const every = Math.ceil(head / (MAX_POINTS - tail));
  return [...points.slice(0, head).filter((_, at) => at % every === 0), ...points.slice(head)];
}

function percentileTable(shown: readonly Distribution[]): Html {
  const rows = MARKS.slice(1).map((mark) => {
    const cells = shown.map((one) => html`<td>${short(timeAt(one, mark / 100), 'us')}</td>`);
    return html`<tr><th scope="row">p${mark}</th>${cells}</tr>`;
  });
  const last = html`<tr><th scope="row">${say('max')}</th>${shown.map((one) => html`<td>${short(maxOf(one), 'us')}</td>`)}</tr>`;
  return html`<div class="wide"><table class="numbers"><thead><tr><th scope="col">${say('percentile')}</th>${shown.map((one) => html`<th scope="col">${nameOf(one)}</th>`)}</tr></thead><tbody>${rows}${last}</tbody></table></div>`;
}

function timeAt({ upToUs, counts }: Distribution, share: number): number {
  const wanted = share * counts.reduce((sum, count) => sum + count, 0) * (1 - Number.EPSILON * 2);
  let seen = 0;
  for (const [at, us] of upToUs.entries()) {
    seen += counts[at] ?? 0;
    if (seen >= wanted) return us;
  }
  return upToUs.at(-1) ?? 0;
}

interface Bar {
  readonly fromUs: number;
  readonly toUs: number;
  readonly count: number;
}

/** Ranges that grow by the same factor. */
function barsOf({ minUs, upToUs, counts }: Distribution): Bar[] {
  const bars = new Map<number, number>();
  upToUs.forEach((us, at) => {
    const range = rangeOf(us);
    bars.set(range, (bars.get(range) ?? 0) + (counts[at] ?? 0));
  });
  const first = rangeOf(minUs);
  const last = rangeOf(upToUs.at(-1) ?? minUs);
  return Array.from({ length: last - first + 1 }, (_, at) => ({
    fromUs: 2 ** ((first + at) / BARS_AN_OCTAVE),
    toUs: 2 ** ((first + at + 1) / BARS_AN_OCTAVE),
    count: bars.get(first + at) ?? 0,
  }));
}

function rangeOf(us: number): number {
  return Math.floor(Math.log2(Math.max(us, 1)) * BARS_AN_OCTAVE);
}
