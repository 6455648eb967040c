import { ProbeError } from './probe.ts';

/** Members, queues or series that one sum is made of at most. */
export const MAX_PARTS = 10_000;

/**
 * One counter out of those of several members of a cluster (nodes, queues, series).
 *
 * Of a bare sum nobody can tell that one member began again: the others hide it, or the whole sum is
 * taken for a new count. So each part is followed by itself. A part that is not told any more keeps what
 * it had counted. Once one of them went down, the sum begins again, too, at what was counted since: it
 * falls, as the counter of a single server does, and whoever reads it sees a restart.
 */
export class CounterSum {
  readonly #parts = new Map<string, number>();
  #told = 0;
  #isNew = true;

  /**
   * @returns the sum, and what was counted since the reading before (null for the first)
   * @throws ProbeError where there are more than `MAX_PARTS`
   */
  add(parts: ReadonlyMap<string, number>): { readonly sum: number; readonly grown: number | null } {
    let grown = 0;
    let restarted = false;
    for (const [part, value] of parts) {
      const before = this.#parts.get(part) ?? 0;
      restarted ||= value < before;
      grown += value < before ? value : value - before;
      this.#parts.set(part, value);
    }
    if (this.#parts.size > MAX_PARTS) throw new ProbeError('too many series');
    // What grew past the old sum at once would look as if nothing had happened.
    const anew = grown < this.#told ? grown : 0;
    this.#told = restarted ? anew : this.#told + grown;
    const isFirst = this.#isNew;
    this.#isNew = false;
    return { sum: this.#told, grown: isFirst ? null : grown };
  }
}
