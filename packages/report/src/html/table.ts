import { type Html, html, NOTHING, said, when } from './markup.ts';
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
export function table(spec: TableSpec): Html {
  const { label, numbersFrom = Infinity, limit = MAX_ROWS } = spec;
  const kept = spec.head.flatMap((_, at) =>
    spec.rows.some((cells) => isSaid(cells[at])) ? [at] : [],
  );
  const only = (cells: readonly Html[]) => kept.map((at) => cells[at] ?? NOTHING);
  const [head, rows] = [only(spec.head), spec.rows.map(only)];
  const shown = rows.slice(0, limit);
  const isNumber = (column: number) => (kept[column] ?? 0) >= numbersFrom && isFigure(rows, column);
  const mark = (column: number) => (isNumber(column) ? html` class="n"` : NOTHING);
  return html`<div class="wide" tabindex="0" role="group"><table><caption>${label}</caption><thead><tr>${head.map((cell, at) => html`<th scope="col"${mark(at)}>${cell}</th>`)}</tr></thead><tbody>${shown.map((cells) => html`<tr>${cells.map((cell, at) => (at === 0 ? html`<th scope="row"${mark(at)}>${cell}</th>` : html`<td${mark(at)}>${cell}</td>`))}</tr>`)}</tbody></table></div>${when(rows.length > shown.length, () => html`<p class="quiet">+ ${rows.length - shown.length} ${say('more')}</p>`)}`;
}

/** A column in which no row says anything is left out. */
function isSaid(cell: Html | undefined): boolean {
  return cell !== undefined && cell.text !== '' && cell.text !== EMPTY.text;
}

const EMPTY = said('');

/** Remarks at the end of figures are words, and stand as words do. */
function isFigure(rows: readonly (readonly Html[])[], column: number): boolean {
  return rows.every(
    (cells) => !isSaid(cells[column]) || /^[±−\d–-]/.test(cells[column]?.text ?? ''),
  );
}

/** Keys and their values, in two columns. */
export function pairs(entries: readonly (readonly [key: Html, value: Html])[]): Html {
  return html`<dl>${entries.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>`)}</dl>`;
}
