import type { Template, TemplateContext } from '../template/index.ts';
import { compileTemplate } from '../template/index.ts';
import { AddressSpread } from '../partition/address-spread.ts';
import type { LedgerPlan } from './ledger-plan.ts';

export interface PlanNamesOptions {
  readonly plan: LedgerPlan;
  /** As workers print `{{run}}`. */
  readonly shortRun: string;
  /** Values of `{{env.NAME}}`. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Topics, filters and client ids of a plan's clients, rendered just as their workers render them. */
export class PlanNames {
  readonly plan: LedgerPlan;
  readonly #contexts: readonly Context[];
  readonly #clientIds: readonly Template[];
  readonly #spreads: readonly AddressSpread[];

  constructor({ plan, shortRun, secrets }: PlanNamesOptions) {
    this.plan = plan;
    const { groups, targets, vars } = plan.plan;
    this.#spreads = groups.map(({ target, clients }) => {
      const { spread = 'first', urls = [] } = targets[target] ?? {};
      return new AddressSpread(spread, Math.max(1, urls.length), clients);
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
    return template.render(context);
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
