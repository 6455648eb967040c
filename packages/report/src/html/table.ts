import { type Html, html, NOTHING, when } from './markup.ts';
import { say } from './words.ts';

export interface TableSpec {
  /** Tells whoever cannot see it what it is. */
  readonly label: Html;
  readonly head: readonly Html[];
  readonly rows: readonly (readonly Html[])[];
  /** Columns from this one on hold numbers. */
  readonly numbersFrom?: number;
  readonly limit?: number;
}

/** Rows of a table before the rest is only counted. */
const MAX_ROWS = 200;

/** A table that scrolls by itself where the page is narrow. */
export function table({ label, head, rows, numbersFrom, limit = MAX_ROWS }: TableSpec): Html {
  const shown = rows.slice(0, limit);
  const isNumber = (column: number) => numbersFrom !== undefined && column >= numbersFrom;
  const mark = (column: number) => (isNumber(column) ? html` class="n"` : NOTHING);
  return html`<div class="wide" tabindex="0" role="group"><table><caption>${label}</caption><thead><tr>${head.map((cell, at) => html`<th scope="col"${mark(at)}>${cell}</th>`)}</tr></thead><tbody>${shown.map((cells) => html`<tr>${cells.map((cell, at) => (at === 0 ? html`<th scope="row"${mark(at)}>${cell}</th>` : html`<td${mark(at)}>${cell}</td>`))}</tr>`)}</tbody></table></div>${when(rows.length > shown.length, () => html`<p class="quiet">+ ${rows.length - shown.length} ${say('more')}</p>`)}`;
}

/** Keys and their values, in two columns. */
export function pairs(entries: readonly (readonly [key: Html, value: Html])[]): Html {
  return html`<dl>${entries.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>`)}</dl>`;
}
