import type { FigureInfo, SeriesSelector } from '@squall/core/probes';
import { CounterSum } from '../counter-sum.ts';
import type { Figure } from '../probe.ts';
import type { ExpositionSample } from './sample.ts';

/** What a figure is made of. */
export interface SeriesFigure {
  readonly figure: string;
  /** The first one that a page has is taken. */
  readonly from: readonly SeriesSelector[];
  readonly info: FigureInfo;
  readonly combine: 'sum' | 'max';
  readonly scale: number;
}

/** What one page says of one selector. */
interface Found {
  /** Some series of the name stands on the page. */
  isKnown: boolean;
  hasNaN: boolean;
  readonly parts: Map<string, number>;
}

/** One figure over many pages. */
export class SeriesSum {
  readonly #figure: SeriesFigure;
  readonly #counters: readonly CounterSum[];
  #found: readonly Found[] = [];

  constructor(figure: SeriesFigure) {
    this.#figure = figure;
    this.#counters = figure.from.map(() => new CounterSum());
    this.begin();
  }

  get names(): readonly string[] {
    return this.#figure.from.map(({ name }) => name);
  }

  /** A new page. */
  begin(): void {
    this.#found = this.#figure.from.map(() => ({
      isKnown: false,
      hasNaN: false,
      parts: new Map(),
    }));
  }

  /** The page speaks of the family, whether or not it has a series. */
  announce(name: string): void {
    for (const [at, selector] of this.#figure.from.entries()) {
      const found = this.#found[at];
      if (found !== undefined && selector.name === name) found.isKnown = true;
    }
  }

  take({ name, labels, value }: ExpositionSample): void {
    for (const [at, selector] of this.#figure.from.entries()) {
      const found = this.#found[at];
      if (found === undefined || selector.name !== name) continue;
      found.isKnown = true;
      if (!fits(selector, labels)) continue;
      if (Number.isNaN(value)) found.hasNaN = true;
      const key = JSON.stringify([...labels]);
      found.parts.set(key, (found.parts.get(key) ?? 0) + value);
    }
  }

  /** Whether some series fitted, a number or not. */
  get isMatched(): boolean {
    return this.#found.some(({ parts }) => parts.size > 0);
  }

  /**
   * The figure of the page, or null: no such series, one that is no number, or a rate without a page
   * before.
   *
   * @param seconds since the page before
   */
  end(seconds: number): Figure | null {
    const at = this.#found.findIndex(({ isKnown }) => isKnown);
    const found = this.#found[at];
    if (found === undefined || found.hasNaN) return null;
    const value = this.#valueOf(found.parts, { at, seconds });
    return value === null ? null : { ...this.#figure.info, value: value * this.#figure.scale };
  }

  #valueOf(
    parts: ReadonlyMap<string, number>,
    page: { at: number; seconds: number },
  ): number | null {
    const { info, from, combine } = this.#figure;
    const isRate = from[page.at]?.isRate === true;
    if (isRate || info.kind === 'counter') {
      // Exporters show a series with its first event: what the page knows by name stands at 0 till then.
      const counted = this.#counters[page.at]?.add(parts) ?? null;
      if (counted === null || !isRate) return counted?.sum ?? null;
      return counted.grown === null || page.seconds <= 0 ? null : counted.grown / page.seconds;
    }
    if (parts.size === 0) return null;
    const values = [...parts.values()];
    return combine === 'max' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
  }
}

function fits({ matchers }: SeriesSelector, labels: ReadonlyMap<string, string>): boolean {
  return matchers.every(({ label, operator, value }) => {
    // A label that is not there is an empty one [Prometheus, querying].
    const isSame = (labels.get(label) ?? '') === value;
    return operator === '=' ? isSame : !isSame;
  });
}
