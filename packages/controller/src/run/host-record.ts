import type { HostFigures } from '@squall/core/control';

/** Points of a curve; beyond it every second one is given up. */
const MAX_POINTS = 360;
/** Figures that are kept of one host; there are fifteen. */
const MAX_FIGURES = 32;

interface Figure {
  count: number;
  sum: number;
  max: number;
  /** Moments, µs of the monotonic clock, and values. */
  points: (readonly [atUs: number, value: number])[];
}

/** How the host of an agent fared while the agent was in a run, in bounded memory. */
export class HostRecord {
  readonly #figures = new Map<string, Figure>();

  take(figures: HostFigures, atUs: number): void {
    for (const [name, value] of Object.entries(figures)) this.#add(name, value, atUs);
  }

  summary(): Record<string, { readonly mean: number; readonly max: number }> {
    return Object.fromEntries(
      [...this.#figures].map(([name, { count, sum, max }]) => [name, { mean: sum / count, max }]),
    );
  }

  /** `zeroUs`: the moment from which the curves count. */
  points(zeroUs: number): Record<string, readonly (readonly [atUs: number, value: number])[]> {
    return Object.fromEntries(
      [...this.#figures].map(([name, { points }]) => [
        name,
        points.map(([atUs, value]) => [atUs - zeroUs, value] as const),
      ]),
    );
  }

  #add(name: string, value: number, atUs: number): void {
    let figure = this.#figures.get(name);
    if (figure === undefined) {
      if (this.#figures.size >= MAX_FIGURES) return;
      figure = { count: 0, sum: 0, max: Number.NEGATIVE_INFINITY, points: [] };
      this.#figures.set(name, figure);
    }
    figure.count += 1;
    figure.sum += value;
    figure.max = Math.max(figure.max, value);
    figure.points.push([atUs, value]);
    if (figure.points.length > MAX_POINTS) {
      figure.points = figure.points.filter((_, place) => place % 2 === 1);
    }
  }
}
