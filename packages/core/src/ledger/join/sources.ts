import type { AgentShare } from '../../partition/partition.ts';
import type { LedgerPage, PageClock } from '../page.ts';

/** One worker of one agent: where pages come from. */
export interface Source {
  readonly agent: string;
  readonly worker: number;
  clock: PageClock | null;
  /** Its table of pairs was full. */
  full: boolean;
}

interface Range {
  readonly first: number;
  readonly source: number;
}

/**
 * Who owns which client, and whose ledger is complete. A worker's clients are verified only when its
 * last page and all before it have come: half a ledger would look like lost messages.
 */
export class Sources {
  readonly list: Source[] = [];
  readonly #places = new Map<string, number>();
  /** By group: ranges of clients, rising. */
  readonly #ranges: Range[][] = [];
  readonly #seen: Set<number>[] = [];
  readonly #pages: number[] = [];
  /** Pages up to the edge, that one included; -1 before it is here. */
  readonly #edges: number[] = [];

  constructor(split: readonly AgentShare[], groups: number) {
    for (let group = 0; group < groups; group++) this.#ranges.push([]);
    for (const { agent, workers } of split) {
      for (const [worker, share] of workers.entries()) {
        const source = this.list.length;
        this.list.push({ agent, worker, clock: null, full: false });
        this.#places.set(`${worker} ${agent}`, source);
        this.#seen.push(new Set());
        this.#pages.push(-1);
        this.#edges.push(-1);
        for (const [group, { first, clients }] of share.groups.entries()) {
          if (clients > 0) this.#ranges[group]?.push({ first, source });
        }
      }
    }
    for (const ranges of this.#ranges) ranges.sort((a, b) => a.first - b.first);
  }

  /** Notes a page. -1 where it is of nobody in the split, or has come before. */
  take(agent: string, page: LedgerPage): number {
    const source = this.#places.get(`${page.worker} ${agent}`);
    if (source === undefined) return -1;
    const seen = this.#seen[source];
    const entry = this.list[source];
    if (seen === undefined || entry === undefined || seen.has(page.page)) return -1;
    seen.add(page.page);
    entry.clock ??= page.clock;
    if (page.last) this.#pages[source] = page.page + 1;
    if (page.kind === 'edge') this.#edges[source] = page.page + 1;
    return source;
  }

  isComplete(source: number): boolean {
    const pages = this.#pages[source] ?? -1;
    return pages > 0 && this.#seen[source]?.size === pages;
  }

  /** Whether everything is here that each worker's publishers sent. */
  get allSent(): boolean {
    return this.list.every((_, source) => this.#hasEdge(source));
  }

  /** Whether every worker's ledger is here: nothing more is worth waiting for. */
  get allComplete(): boolean {
    return this.list.every((_, source) => this.isComplete(source));
  }

  /** The worker that owns a client of a group. */
  ownerOf(group: number, client: number): number {
    const ranges = this.#ranges[group] ?? [];
    let low = 0;
    let high = ranges.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((ranges[middle]?.first ?? 0) <= client) low = middle;
      else high = middle - 1;
    }
    return ranges[low]?.source ?? -1;
  }

  /** Pages before the edge come first, and are numbered without a gap. */
  #hasEdge(source: number): boolean {
    const pages = this.#edges[source] ?? -1;
    if (pages < 0) return false;
    const seen = this.#seen[source];
    for (let page = 0; page < pages; page++) if (seen?.has(page) !== true) return false;
    return true;
  }
}
