import type { ConnectProperties, Group, WillSpec } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import type { ConnectOptions, Route, Will } from '@squall/mqtt';
import type { PlanFiles } from '../plan-files.ts';
import { type PayloadForm, payloadForm } from '../publish/payload-form.ts';
import {
  NO_TEMPLATES,
  propertyTemplates,
  type PropertyTemplates,
  renderProperties,
} from '../publish/property-source.ts';
import type { RenderContext } from '../publish/render-context.ts';

export interface IntroductionsOptions {
  readonly group: Group;
  /** Whether the group's clients speak MQTT 5. */
  readonly isVersion5: boolean;
  readonly files: PlanFiles;
  readonly context: RenderContext;
  /** Fills in a template for the client at a position: the context is that client's then. */
  readonly render: (template: Template, position: number) => string;
}

/** What each client of a group says of itself in CONNECT, the way to its broker apart. */
export class Introductions {
  readonly #options: IntroductionsOptions;
  readonly #clientId: Template;
  readonly #username: Template | null;
  readonly #password: Template | null;
  readonly #will: WillTemplates | null;
  readonly #userProperties: readonly (readonly [name: string, value: Template])[];

  /** @throws SquallError for a template that is none, Error for a file that is not there. */
  constructor(options: IntroductionsOptions) {
    const { clientId, username, password, connect } = options.group;
    this.#options = options;
    this.#clientId = compileTemplate(clientId);
    this.#username = username === null ? null : compileTemplate(username);
    this.#password = password === null ? null : compileTemplate(password);
    this.#will = connect.will === null ? null : willTemplates(connect.will, options);
    this.#userProperties = (connect.properties?.userProperties ?? []).map(({ name, value }) => [
      name,
      compileTemplate(value),
    ]);
  }

  clientId(position: number): string {
    return this.#options.render(this.#clientId, position);
  }

  /**
   * @throws SquallError where a template lacks a value. `assignedId` is what the broker called the
   * client before: a client without an id of its own comes back to its session by it.
   */
  of(position: number, assignedId: string | null): Omit<ConnectOptions, keyof Route> {
    const { connect } = this.#options.group;
    const clientId = this.clientId(position);
    return {
      clientId: clientId === '' ? (assignedId ?? '') : clientId,
      ...this.#credentials(position),
      keepAliveS: connect.keepAliveS,
      cleanStart: connect.cleanStart,
      timeoutUs: connect.timeoutUs,
      will: this.#will === null ? undefined : this.#willOf(this.#will, position),
      properties: this.#options.isVersion5 ? this.#properties(position) : undefined,
    };
  }

  #credentials(position: number): Pick<ConnectOptions, 'username' | 'password' | 'auth'> {
    const { auth } = this.#options.group.connect;
    const username = this.#rendered(this.#username, position);
    const password = this.#rendered(this.#password, position);
    if (auth === null) return { username, password };
    const { method } = auth;
    return { auth: { method, username: username ?? '', password: password ?? '' } };
  }

  #rendered(template: Template | null, position: number): string | undefined {
    return template === null ? undefined : this.#options.render(template, position);
  }

  #properties(position: number): ConnectOptions['properties'] {
    const { sessionExpiryS, properties } = this.#options.group.connect;
    return {
      sessionExpiryInterval: sessionExpiryS ?? undefined,
      ...(properties === null ? {} : plainProperties(properties)),
      userProperties: this.#userProperties.map(([name, value]) => [
        name,
        this.#options.render(value, position),
      ]),
    };
  }

  #willOf(templates: WillTemplates, position: number): Will {
    const { render, context, isVersion5 } = this.#options;
    const { qos, retain, delayS, expiryS } = templates.spec;
    const topic = render(templates.topic, position);
    const payload = templates.payload.make(position, 0, context);
    if (!isVersion5) return { topic, payload, qos, retain };
    const properties = {
      willDelayInterval: delayS ?? undefined,
      ...renderProperties(templates.properties, expiryS, context),
    };
    return { topic, payload, qos, retain, properties };
  }
}

interface WillTemplates {
  readonly spec: WillSpec;
  readonly topic: Template;
  readonly payload: PayloadForm;
  readonly properties: PropertyTemplates;
}

function willTemplates(spec: WillSpec, { files, context }: IntroductionsOptions): WillTemplates {
  return {
    spec,
    topic: compileTemplate(spec.topic),
    payload: payloadForm(spec.payload, files, context),
    properties: spec.properties === null ? NO_TEMPLATES : propertyTemplates(spec.properties),
  };
}

/** What is the same for all clients; null stands for what is not sent. */
function plainProperties(spec: ConnectProperties): NonNullable<ConnectOptions['properties']> {
  return {
    receiveMaximum: spec.receiveMaximum ?? undefined,
    maximumPacketSize: spec.maximumPacketSize ?? undefined,
    topicAliasMaximum: spec.topicAliasMaximum ?? undefined,
    requestResponseInformation: spec.requestResponseInformation ?? undefined,
    requestProblemInformation: spec.requestProblemInformation ?? undefined,
  };
}
