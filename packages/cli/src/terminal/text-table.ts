export interface TableOptions {
  readonly indent?: number;
  /** All columns but the first. */
  readonly alignRight?: boolean;
}

const GAP = '  ';

/** Rows in columns. Colour codes take no room; rows may be of different lengths. */
export function textTable(
  rows: readonly (readonly string[])[],
  { indent = 0, alignRight = false }: TableOptions = {},
): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...rows.map((row) => visibleWidth(row[column] ?? ''))),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const fill = ' '.repeat((widths[column] ?? 0) - visibleWidth(cell));
      return alignRight && column > 0 ? `${fill}${cell}` : `${cell}${fill}`;
    });
    return `${' '.repeat(indent)}${cells.join(GAP)}`.trimEnd();
  });
}

function visibleWidth(text: string): number {
  return Array.from(text.replaceAll(COLOUR_CODE, '')).length;
}

/** Select Graphic Rendition. */
const COLOUR_CODE = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
