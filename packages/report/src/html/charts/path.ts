import type { Column } from './columns.ts';
import { SIZE } from './frame.ts';

/** Where the middle of a column lies (0 to 1), and where a value does. */
export interface Places {
  readonly x: (column: number) => number;
  readonly y: (value: number) => number;
}

export interface Drawn {
  readonly path: string;
  /** What stands alone between gaps, drawn bolder. */
  readonly dots: string;
}

/**
 * A line through the lowest and highest value of each column, in turns that keep it short. It has
 * gaps where nothing was measured; a single column between gaps is a dot.
 */
export function linePath(columns: readonly Column[], { x, y }: Places): Drawn {
  let path = '';
  let dots = '';
  let open = false;
  let last = 0;
  columns.forEach((column, at) => {
    if (column === null) {
      open = false;
      return;
    }
    const [low, high] = column;
    const near = Math.abs(last - low) <= Math.abs(last - high) ? low : high;
    const far = near === low ? high : low;
    const across = unit(x(at));
    path += `${open ? 'L' : 'M'}${across} ${unit(1 - y(near))}`;
    if (far !== near) path += `V${unit(1 - y(far))}`;
    if (!open && (columns[at + 1] ?? null) === null) {
      dots += `M${across} ${unit(1 - y(low))}h0M${across} ${unit(1 - y(high))}h0`;
    }
    last = far;
    open = true;
  });
  return { path, dots };
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
