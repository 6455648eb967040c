import type { FigureUnit } from '@squall/core/probes';
import { CounterSum } from '../counter-sum.ts';
import type { Figure, Reading } from '../probe.ts';

/** What one reading of a cluster gives, before the members' counters are made one. */
export class ClusterTally {
  readonly gauges = new Map<string, { value: number; unit: FigureUnit }>();
  readonly counters = new Map<string, { unit: FigureUnit; parts: Map<string, number> }>();

  /** What each member has of its own. */
  add(figure: string, value: number | null, unit: FigureUnit = 'count'): void {
    if (value === null) return;
    const before = this.gauges.get(figure)?.value ?? 0;
    this.gauges.set(figure, { value: before + value, unit });
  }

  /** What all members tell alike, within a second or two. */
  highest(figure: string, value: number | null): void {
    if (value === null) return;
    const before = this.gauges.get(figure)?.value ?? 0;
    this.gauges.set(figure, { value: Math.max(before, value), unit: 'count' });
  }

  /** `part`: whose counter it is, a node, a rule on a node. */
  count(figure: string, value: number | null, of: { part: string; unit?: FigureUnit }): void {
    if (value === null) return;
    const { part, unit = 'count' } = of;
    const known = this.counters.get(figure) ?? { unit, parts: new Map<string, number>() };
    this.counters.set(figure, known);
    known.parts.set(part, (known.parts.get(part) ?? 0) + value);
  }
}

/** The counters of a cluster over many readings. */
export class ClusterCounters {
  readonly #sums = new Map<string, CounterSum>();

  reading({ gauges, counters }: ClusterTally): Reading {
    const figures = new Map<string, Figure>();
    for (const [name, figure] of gauges) figures.set(name, { ...figure, kind: 'gauge' });
    for (const [name, { unit, parts }] of counters) {
      const sum = this.#sums.get(name) ?? new CounterSum();
      this.#sums.set(name, sum);
      figures.set(name, { value: sum.add(parts).sum, kind: 'counter', unit });
    }
    return figures;
  }
}
