import type { Template, TemplateContext } from '../template/index.ts';
import { compileTemplate } from '../template/index.ts';
import { AddressSpread } from '../partition/address-spread.ts';
import type { GroupRows } from '../partition/group-rows.ts';
import type { LedgerPlan } from './ledger-plan.ts';

export interface PlanNamesOptions {
  readonly plan: LedgerPlan;
  /** As workers print `{{run}}`. */
  readonly shortRun: string;
  /** Values of `{{env.NAME}}`. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Rows of CSV files by the group's name; what is not there is shown as hidden. */
  readonly rows?: Readonly<Record<string, GroupRows>>;
}

/** Stands for the value of a column that is not known here. */
const HIDDEN = '***';

/** Topics, filters and client ids of a plan's clients, rendered just as their workers render them. */
export class PlanNames {
  readonly plan: LedgerPlan;
  readonly #contexts: readonly Context[];
  readonly #clientIds: readonly Template[];
  readonly #spreads: readonly AddressSpread[];
  readonly #rows: Readonly<Record<string, GroupRows>>;

  constructor({ plan, shortRun, secrets, rows = {} }: PlanNamesOptions) {
    this.plan = plan;
    this.#rows = rows;
    const { groups, targets, vars } = plan.plan;
    this.#spreads = groups.map(({ target, clients }) => {
      const spec = targets[target];
      if (spec?.protocol !== 'mqtt') return new AddressSpread('first', 1, clients);
      return new AddressSpread(spec.spread, Math.max(1, spec.urls.length), clients);
    });
    this.#contexts = groups.map(
      ({ name, clients }) => new Context({ clients, run: shortRun, group: name, secrets, vars }),
    );
    this.#clientIds = groups.map(({ clientId }) => compileTemplate(clientId));
  }

  render(template: Template, group: number, client: number): string {
    const context = this.#contexts[group];
    if (context === undefined) throw new RangeError(`the plan has no group ${group}`);
    context.n = client;
    context.blockN = this.#spreads[group]?.blockNOf(client) ?? client;
    if (template.parts.some(({ kind }) => kind === 'csv')) context.csv = this.#row(group, client);
    return template.render(context);
  }

  #row(index: number, client: number): Record<string, string> {
    const group = this.plan.plan.groups[index];
    const rows = group === undefined ? undefined : this.#rows[group.name];
    const row = rows?.rows[client - rows.first];
    const columns = group?.from?.columns ?? [];
    return Object.fromEntries(columns.map((column, k) => [column, row?.[k] ?? HIDDEN]));
  }

  clientId(group: number, client: number): string {
    const template = this.#clientIds[group];
    return template === undefined ? '' : this.render(template, group, client);
  }

  /** Client id by the number that a client has among all clients of the plan. */
  clientIdOf(number: number): string {
    const group = this.groupOf(number);
    return this.clientId(group, number - (this.plan.firstClient[group] ?? 0));
  }

  /** The group of a client of the plan. */
  groupOf(number: number): number {
    const { firstClient } = this.plan;
    let group = firstClient.length - 1;
    while (group > 0 && number < (firstClient[group] ?? 0)) group -= 1;
    return group;
  }
}

class Context implements TemplateContext {
  n = 0;
  blockN = 0;
  csv: Readonly<Record<string, string>> = {};
  readonly seq = 0;
  readonly nowMs = 0;
  readonly clients: number;
  readonly run: string;
  readonly group: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;

  constructor(values: Pick<TemplateContext, 'clients' | 'run' | 'group' | 'secrets' | 'vars'>) {
    this.clients = values.clients;
    this.run = values.run;
    this.group = values.group;
    this.secrets = values.secrets;
    this.vars = values.vars;
  }

  /** What changes with every message is outside the ledger and never rendered here. */
  random(): number {
    return 0;
  }
}
