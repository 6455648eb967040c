import { Html, html, NOTHING, said, when } from '../markup.ts';
import { both, type Both, say } from '../words.ts';
import { dashOf } from './dashes.ts';

/** A mark on an axis: where it lies (0 to 1) and what stands there. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** A part of the width that has a name. */
interface Band {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  readonly warmup: boolean;
}

interface Legend {
  readonly name: string;
  /** Path of the curve in a square of 1000 × 1000, y downwards. */
  readonly path: string;
  readonly band?: string;
  readonly dots?: string;
}

export interface ChartFrame {
  readonly id: string;
  readonly title: Html;
  readonly unit: Both;
  readonly remarks: readonly Html[];
  readonly x: readonly Tick[];
  readonly y: readonly Tick[];
  readonly bands: readonly Band[];
  readonly curves: readonly Legend[];
  /** `bars`: filled, no lines. */
  readonly kind: 'lines' | 'bars';
  /** What the pointer reads: see `script.ts`. Null: nothing. */
  readonly readout: unknown;
  readonly table: Html;
}

/** Size of the drawing in its own units; the page stretches it. */
export const SIZE = 1_000;
/** A narrower stage has no room for its name. */
const NARROW = 0.06;

/**
 * A chart: curves in an SVG that stretches to its place, with words and numbers in HTML around it, so
 * that they have the size of all other text on a phone as on paper.
 */
export function chartFrame(frame: ChartFrame): Html {
  const { id, title, unit, remarks, table, readout } = frame;
  const label = `${id}-title`;
  return html`<figure class="chart" id="${id}">
<figcaption id="${label}"><strong>${title}</strong> <span class="unit">${both(unit)}</span>${remarks.map((remark) => html` <span class="remark">${remark}</span>`)}</figcaption>
${legend(frame)}
<div class="frame"><div class="ys" aria-hidden="true">${frame.y.map(({ at, text }) => html`<span style="bottom:${percent(at)}">${text}</span>`)}</div>
<div class="plot" tabindex="0" role="img" aria-labelledby="${label}"${readout === null ? NOTHING : html` data-read="${id}-data"`}>
${drawing(frame)}${bandNames(frame)}<div class="cursor" hidden></div></div>
<div class="xs" aria-hidden="true">${frame.x.map((tick) => xLabel(tick))}</div></div>
<output class="read" aria-live="polite"></output>
<details class="data"><summary>${say('table')}</summary>${table}</details>
${when(readout !== null, () => html`<script type="application/json" id="${id}-data">${jsonFor(readout)}</script>`)}</figure>`;
}

function legend({ curves, kind }: ChartFrame): Html {
  return html`<ul class="legend">${curves.map(({ name }, at) => html`<li><svg class="sample c${at}" viewBox="0 0 28 8" aria-hidden="true">${kind === 'bars' ? html`<rect class="bar" width="28" height="8"/>` : html`<path d="M1 4H27" stroke-dasharray="${dashOf(at)}"/>`}</svg>${said(name)}</li>`)}</ul>`;
}

function drawing({ x, y, bands, curves, kind }: ChartFrame): Html {
  return html`<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">
${bands.map(({ from, to, warmup }, at) => html`<rect class="band${at % 2}${warmup ? ' warm' : ''}" x="${place(from)}" y="0" width="${place(Math.max(0, to - from))}" height="1000"/>`)}${y.map(({ at }) => html`<path class="grid" d="M0 ${place(1 - at)}H1000"/>`)}${x.map(({ at }) => html`<path class="grid" d="M${place(at)} 0V1000"/>`)}${bands.filter(({ from }) => from > 0).map(({ from }) => html`<path class="mark" d="M${place(from)} 0V1000"/>`)}${curves.map((curve, at) => drawCurve(curve, at, kind))}</svg>`;
}

function drawCurve(
  { path, band = '', dots = '' }: Legend,
  at: number,
  kind: ChartFrame['kind'],
): Html {
  if (kind === 'bars') return html`<path class="bar c${at}" d="${path}"/>`;
  const dash = dashOf(at) === '' ? NOTHING : html` stroke-dasharray="${dashOf(at)}"`;
  return html`${when(band !== '', () => html`<path class="spread c${at}" d="${band}"/>`)}<path class="line c${at}"${dash} d="${path}"/>${when(dots !== '', () => html`<path class="line dot c${at}" d="${dots}"/>`)}`;
}

function bandNames({ bands }: ChartFrame): Html {
  return html`<div class="bands" aria-hidden="true">${bands.filter(({ from, to }) => to - from >= NARROW).map(({ from, to, name }) => html`<span style="left:${percent(from)};width:${percent(Math.max(0, to - from))}">${said(name)}</span>`)}</div>`;
}

/** The label at either end stays within the plot. */
function xLabel({ at, text }: Tick): Html {
  const end = at > 0.96 ? html` class="end"` : NOTHING;
  const attribute = at < 0.04 ? html` class="start"` : end;
  return html`<span${attribute} style="left:${percent(at)}">${text}</span>`;
}

function place(share: number): number {
  return Math.round(share * SIZE * 10) / 10;
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

/** No text in it can end the element that holds it. */
function jsonFor(value: unknown): Html {
  return Html.trusted(JSON.stringify(value).replaceAll('<', String.raw`\u003c`));
}
