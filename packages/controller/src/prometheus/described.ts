import { Counter, Gauge, type Registry } from 'prom-client';

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

export interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** What there is at the moment of a scrape; nothing is kept between two of them. */
  readonly read: () => readonly Sample[];
}

export function addGauge(registry: Registry, { name, help, labels, read }: Described): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [],
    collect() {
      this.reset();
      for (const [own, value] of read()) this.set({ ...own }, value);
    },
  });
  registry.registerMetric(gauge);
}

export function addCounter(registry: Registry, { name, help, labels, read }: Described): void {
  const counter = new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [],
    collect() {
      this.reset();
      for (const [own, value] of read()) this.inc({ ...own }, value);
    },
  });
  registry.registerMetric(counter);
}
