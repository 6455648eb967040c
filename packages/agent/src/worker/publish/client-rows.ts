import type { GroupRows } from '@squall/core/partition';
import type { Group } from '@squall/core/plan';

/** Rows of a group's CSV file, each as names and values when it is asked for first. */
export class ClientRows {
  readonly #columns: readonly string[];
  readonly #rows: GroupRows;
  readonly #known: (Readonly<Record<string, string>> | undefined)[] = [];

  constructor({ from }: Pick<Group, 'from'>, rows: GroupRows) {
    this.#columns = from?.columns ?? [];
    this.#rows = rows;
  }

  /** The row of the client with index `n` in its group; undefined where it is not this worker's. */
  of(n: number): Readonly<Record<string, string>> | undefined {
    const place = n - this.#rows.first;
    const known = this.#known[place];
    if (known !== undefined) return known;
    const row = this.#rows.rows[place];
    if (row === undefined) return undefined;
    const named = Object.fromEntries(this.#columns.map((column, k) => [column, row[k] ?? '']));
    this.#known[place] = named;
    return named;
  }
}
