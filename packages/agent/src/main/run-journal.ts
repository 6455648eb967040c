import type { FromAgent } from '@squall/core/control';
import type { Link } from './link.ts';

type RunReport = Extract<FromAgent, { run: string }>;
/** A report without the names of run and epoch, which are always the run's own. */
export type Said = RunReport extends infer R
  ? R extends RunReport
    ? Omit<R, 'run' | 'epoch'>
    : never
  : never;

/**
 * All that an agent said of a run. What was on its way when a link was cut is lost without a trace,
 * so everything is said again on the next one; the controller knows what it has heard already.
 */
export class RunJournal {
  readonly #link: Pick<Link, 'send'>;
  readonly #run: { readonly run: string; readonly epoch: number };
  readonly #reports: RunReport[] = [];

  constructor(link: Pick<Link, 'send'>, run: { readonly run: string; readonly epoch: number }) {
    this.#link = link;
    this.#run = run;
  }

  say(said: Said): void {
    const report: RunReport = { ...said, ...this.#run };
    this.#reports.push(report);
    this.#link.send(report);
  }

  repeat(): void {
    for (const report of this.#reports) this.#link.send(report);
  }
}
