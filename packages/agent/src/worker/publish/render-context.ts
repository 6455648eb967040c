import { AddressSpread, type GroupRows } from '@squall/core/partition';
import type { Group, Target } from '@squall/core/plan';
import type { TemplateContext } from '@squall/core/template';
import { ClientRows } from './client-rows.ts';

export interface RenderOptions {
  readonly group: Group;
  readonly target: Target;
  readonly shortRun: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
  /** Rows of the group's CSV file, of the worker's own clients; null where it has none. */
  readonly rows?: GroupRows | null;
  /** Seed of `{{random}}` and `{{uuid}}`: another one in every worker. */
  readonly seed: number;
}

const NO_ROW: Readonly<Record<string, string>> = {};

/** What templates of one group are rendered with; the places of client and message are set before. */
export class RenderContext implements TemplateContext {
  n = 0;
  seq = 0;
  readonly clients: number;
  readonly run: string;
  readonly group: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
  readonly #spread: AddressSpread;
  readonly #rows: ClientRows | null;
  #state: number;

  constructor(options: RenderOptions) {
    const { group, target, rows = null } = options;
    this.#spread =
      target.protocol === 'mqtt'
        ? new AddressSpread(target.spread, target.urls.length, group.clients)
        : new AddressSpread('first', 1, group.clients);
    this.clients = group.clients;
    this.run = options.shortRun;
    this.group = group.name;
    this.secrets = options.secrets;
    this.vars = options.vars;
    this.#rows = rows === null ? null : new ClientRows(group, rows);
    this.#state = options.seed >>> 0;
  }

  /** The client's place among those of its address. */
  get blockN(): number {
    return this.#spread.blockNOf(this.n);
  }

  /** The client's row, by the names of its columns. */
  get csv(): Readonly<Record<string, string>> {
    return this.#rows?.of(this.n) ?? NO_ROW;
  }

  get nowMs(): number {
    return Date.now();
  }

  /** mulberry32: small, fast and good enough for payloads; not for secrets. */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
