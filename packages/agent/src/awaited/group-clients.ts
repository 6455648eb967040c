import type { ClientRange, GroupRows } from '@squall/core/partition';
import type { Group, MqttTarget, Plan } from '@squall/core/plan';
import { runHash } from '@squall/core/stamp';
import { compileTemplate, type Template } from '@squall/core/template';
import type { ConnectOptions } from '@squall/mqtt';
import { BrokerRoutes } from '../worker/clients/broker-routes.ts';
import { type ClientOrder, clientOrder } from '../worker/clients/client-order.ts';
import { Introductions } from '../worker/clients/introductions.ts';
import { at } from '../worker/element.ts';
import type { PlanFiles } from '../worker/plan-files.ts';
import { RenderContext } from '../worker/publish/render-context.ts';

export interface GroupClientsOptions {
  readonly plan: Plan;
  readonly group: Group;
  readonly range: ClientRange;
  readonly shortRun: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly files: PlanFiles;
  /** Rows of CSV files, by the group's name. */
  readonly rows: Readonly<Record<string, GroupRows>>;
}

/**
 * Who the clients of a group are and how they reach their brokers, made of the parts that the load
 * is made of: for what is done beside a load. Clients are told by their position in `order`.
 */
export class GroupClients {
  readonly group: Group;
  readonly target: MqttTarget;
  readonly order: ClientOrder;
  readonly context: RenderContext;
  readonly #routes: BrokerRoutes;
  readonly #introductions: Introductions;
  readonly #templates = new Map<string, Template>();

  /** @throws Error where a file is missing or a target is not there, SquallError for a template. */
  constructor(options: GroupClientsOptions) {
    const { files, group, plan, range, rows, secrets, shortRun } = options;
    const target = plan.targets[group.target];
    if (target?.protocol !== 'mqtt')
      throw new Error(`group ${group.name} talks to RocketMQ: only MQTT is tried by this version`);
    this.group = group;
    this.target = target;
    this.order = clientOrder(range, group.clients);
    const seed = runHash(`${shortRun}/${group.name}`);
    this.context = new RenderContext({
      group,
      target,
      shortRun,
      secrets,
      vars: plan.vars,
      rows: rows[group.name] ?? null,
      seed,
    });
    const { context, order } = this;
    const render = (template: Template, position: number) => this.#fill(template, position);
    this.#routes = new BrokerRoutes({ group, target, order, files, render });
    const isVersion5 = target.version === '5';
    this.#introductions = new Introductions({ group, isVersion5, files, context, render });
  }

  clientId(position: number): string {
    return this.#introductions.clientId(position);
  }

  /** `mqtt://host:port` of the address that the client is at. */
  address(position: number): string {
    const { scheme, host, port, path } = this.#routes.url(position);
    return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  }

  /** With `spread: first`, the client turns to the next address. @returns whether there is one. */
  moveOn(position: number): boolean {
    return this.#routes.attemptFailed(position);
  }

  /** As the load connects. @throws Error or SquallError for what the client lacks. */
  connectOptions(position: number): ConnectOptions {
    return { ...this.#routes.route(position), ...this.#introductions.of(position, null) };
  }

  /** A template of the plan for the client. @throws SquallError where it lacks a value. */
  render(text: string, position: number): string {
    const known = this.#templates.get(text);
    const template = known ?? compileTemplate(text);
    if (known === undefined) this.#templates.set(text, template);
    return this.#fill(template, position);
  }

  #fill(template: Template, position: number): string {
    this.#turnTo(position);
    return template.render(this.context);
  }

  #turnTo(position: number): void {
    this.context.n = at(this.order.numbers, position);
    this.context.seq = 0;
  }
}
