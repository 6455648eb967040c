import { runHash } from '@squall/core/stamp';
import type { Group, MqttTarget, Plan } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import type { ConnectOptions, PublishMessage } from '@squall/mqtt';
import { BrokerRoutes } from '../worker/clients/broker-routes.ts';
import { type ClientOrder, clientOrder } from '../worker/clients/client-order.ts';
import type { PlanFiles } from '../worker/plan-files.ts';
import { MessageSource } from '../worker/publish/message-source.ts';
import { RenderContext } from '../worker/publish/render-context.ts';

export interface TrialGroupOptions {
  readonly plan: Plan;
  readonly group: Group;
  readonly target: MqttTarget;
  readonly shortRun: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly files: PlanFiles;
  /** Index of the client in its group, from 0. */
  readonly client: number;
}

/** A message of a stream, ready to be sent, with its topic as text. */
export interface TrialMessage {
  readonly subject: string;
  readonly topic: string;
  readonly message: PublishMessage;
}

/** One client of a group, made of the parts that the load is made of. */
export class TrialGroup {
  readonly group: Group;
  readonly target: MqttTarget;
  readonly #options: TrialGroupOptions;
  readonly #order: ClientOrder;
  readonly #context: RenderContext;
  readonly #routes: BrokerRoutes;

  /** @throws Error where a file is missing, SquallError where a template lacks a value. */
  constructor(options: TrialGroupOptions) {
    const { client, files, group, plan, secrets, shortRun, target } = options;
    this.group = group;
    this.target = target;
    this.#options = options;
    this.#order = clientOrder({ first: client, last: client, clients: 1 }, group.clients);
    this.#context = new RenderContext({
      group,
      target,
      shortRun,
      secrets,
      vars: plan.vars,
      seed: runHash(`${shortRun}/${group.name}`),
    });
    this.#routes = new BrokerRoutes({
      group,
      target,
      order: this.#order,
      files,
      render: (template) => this.#fill(template),
    });
  }

  get clientId(): string {
    return this.#render(this.group.clientId);
  }

  /** `mqtt://host:port` of the address that this client is at. */
  get address(): string {
    const { scheme, host, port, path } = this.#routes.url(0);
    return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  }

  /** As the load connects, but that nothing of a session is taken up or left behind. */
  connectOptions(timeoutUs: number): ConnectOptions {
    const { connect, username, password } = this.group;
    return {
      ...this.#routes.route(0),
      clientId: this.clientId,
      username: username === null ? undefined : this.#render(username),
      password: password === null ? undefined : this.#render(password),
      keepAliveS: connect.keepAliveS,
      cleanStart: true,
      timeoutUs: Math.min(timeoutUs, connect.timeoutUs),
    };
  }

  /** All filters of the client, of `client` where that is given. */
  allFilters(client = this.#options.client): string[] {
    const { subscribe, respond } = this.group;
    this.#context.n = client;
    this.#context.seq = 0;
    return [...subscribe, ...respond].flatMap(({ topics }) =>
      topics.map((topic) => compileTemplate(topic).render(this.#context)),
    );
  }

  filters(topics: readonly string[]): string[] {
    return topics.map((topic) => this.#render(topic));
  }

  /** The first message of a stream. It is not retained, whatever the plan says: a trial leaves nothing. */
  message(index: number): TrialMessage {
    const stream = this.group.publish[index];
    if (stream === undefined) throw new RangeError(`no stream ${index}`);
    const source = new MessageSource({
      stream: { ...stream, retain: false },
      order: this.#order,
      context: this.#context,
      stamp: { runHash: runHash(this.#options.shortRun), subject: index, clockDomain: 0 },
      moment: new Float64Array(1),
    });
    const due = new Float64Array(1);
    if (!source.prepare({ position: 0, stage: 0, seq: 0 }, due)) throw new Error(source.failure);
    const { message } = source;
    return { subject: stream.subject, topic: message.topics.text(message.topic), message };
  }

  #render(text: string): string {
    return this.#fill(compileTemplate(text));
  }

  #fill(template: Template): string {
    this.#context.n = this.#options.client;
    this.#context.seq = 0;
    return template.render(this.#context);
  }
}
