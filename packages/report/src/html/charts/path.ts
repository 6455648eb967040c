import type { Column } from './columns.ts';
import { SIZE } from './frame.ts';

/** Where the middle of a column lies (0 to 1), and where a value does. */
export interface Places {
  readonly x: (column: number) => number;
  readonly y: (value: number) => number;
}

export interface Drawn {
  /** Through the highest value of each column. */
  readonly path: string;
  /** From there down to the lowest; empty where they are the same. */
  readonly band: string;
  /** What stands alone between gaps, drawn bolder. */
  readonly dots: string;
}

/**
 * A line with gaps where nothing was measured; a single column between gaps is a dot. Columns that are
 * at most `bridged` apart belong together.
 */
export function linePath(columns: readonly Column[], places: Places, bridged = 1): Drawn {
  const drawn = { path: '', band: '', dots: '' };
  for (const part of unbroken(columns, bridged)) {
    const { highs, lows } = edges(part, places);
    if (part.length === 1) {
      drawn.dots += `M${highs[0] ?? ''}h0M${lows[0] ?? ''}h0`;
      continue;
    }
    drawn.path += `M${highs.join('L')}`;
    if (part.some(({ low, high }) => low !== high)) {
      drawn.band += `M${highs.join('L')}L${lows.toReversed().join('L')}Z`;
    }
  }
  return drawn;
}

interface Place {
  readonly at: number;
  readonly low: number;
  readonly high: number;
}

function unbroken(columns: readonly Column[], bridged: number): Place[][] {
  const parts: Place[][] = [];
  let open: Place[] = [];
  columns.forEach((column, at) => {
    if (column === null) return;
    const place = { at, low: column[0], high: column[1] };
    const last = open.at(-1);
    if (last === undefined || at - last.at > bridged) {
      open = [place];
      parts.push(open);
    } else {
      open.push(place);
    }
  });
  return parts;
}

/** Readings that were left out before a curve that is read now and then has a gap. */
const MISSED_READINGS = 2;

/** How far apart the columns of a curve may be that is read now and then, as probes are. */
export function usualGap(columns: readonly Column[]): number {
  const read = columns.flatMap((column, at) => (column === null ? [] : [at]));
  const gaps = read.slice(1).map((at, place) => at - (read[place] ?? at));
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 1;
  return usual * (1 + MISSED_READINGS);
}

function edges(part: readonly Place[], { x, y }: Places) {
  const point = (at: number, value: number) => `${unit(x(at))} ${unit(1 - y(value))}`;
  return {
    highs: part.map(({ at, high }) => point(at, high)),
    lows: part.map(({ at, low }) => point(at, low)),
  };
}

/** A line through points. */
export function pointPath(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${unit(x)} ${unit(1 - y)}`).join('');
}

/** Bars that stand on the low end. */
export function barPath(
  bars: readonly { readonly from: number; readonly to: number; readonly height: number }[],
): string {
  return bars
    .filter(({ height }) => height > 0)
    .map(
      ({ from, to, height }) => `M${unit(from)} ${SIZE}V${unit(1 - height)}H${unit(to)}V${SIZE}Z`,
    )
    .join('');
}

function unit(share: number): number {
  return Math.round(share * SIZE * 10) / 10;
}
