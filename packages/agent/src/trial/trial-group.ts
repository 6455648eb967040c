import { runHash } from '@squall/core/stamp';
import type { ConnectOptions, PublishMessage } from '@squall/mqtt';
import { GroupClients, type GroupClientsOptions } from '../awaited/group-clients.ts';
import { MessageSource } from '../worker/publish/message-source.ts';

export interface TrialGroupOptions extends Omit<GroupClientsOptions, 'range'> {
  /** Index of the client in its group, from 0. */
  readonly client: number;
}

/** A message of a stream, ready to be sent, with its topic as text. */
export interface TrialMessage {
  readonly topic: string;
  readonly message: PublishMessage;
}

/** One client of a group. */
export class TrialGroup {
  readonly #options: TrialGroupOptions;
  readonly #clients: GroupClients;

  /** @throws Error where a file is missing, SquallError where a template lacks a value. */
  constructor(options: TrialGroupOptions) {
    const { client } = options;
    this.#options = options;
    this.#clients = new GroupClients({
      ...options,
      range: { first: client, last: client, clients: 1 },
    });
  }

  get group(): GroupClients['group'] {
    return this.#clients.group;
  }

  get version(): string {
    return this.#clients.target.version;
  }

  get clientId(): string {
    return this.#clients.clientId(0);
  }

  /** Addresses that a client may try. */
  get addresses(): number {
    const { spread, urls } = this.#clients.target;
    return spread === 'first' ? urls.length : 1;
  }

  /** Turns to the next address. */
  moveOn(): void {
    this.#clients.moveOn(0);
  }

  get address(): string {
    return this.#clients.address(0);
  }

  /** As the load connects, but that no session is taken up or left behind. */
  connectOptions(timeoutUs: number): ConnectOptions {
    const options = this.#clients.connectOptions(0);
    const { properties } = options;
    return {
      ...options,
      cleanStart: true,
      timeoutUs: Math.min(timeoutUs, options.timeoutUs),
      ...(properties === undefined
        ? {}
        : { properties: { ...properties, sessionExpiryInterval: 0 } }),
    };
  }

  filters(topics: readonly string[]): string[] {
    return topics.map((topic) => this.#clients.render(topic, 0));
  }

  /** Every filter that the client is to hold. */
  allFilters(): string[] {
    const { subscribe, respond } = this.group;
    return [...subscribe, ...respond].flatMap(({ topics }) => this.filters(topics));
  }

  /** The first message of a stream. It is not retained, whatever the plan says: a trial leaves nothing. */
  message(index: number): TrialMessage {
    const stream = this.group.publish[index];
    if (stream === undefined) throw new RangeError(`no stream ${index}`);
    const { order, context } = this.#clients;
    const source = new MessageSource({
      stream: { ...stream, retain: false, topicAlias: null },
      order,
      context,
      files: this.#options.files,
      stamp: { runHash: runHash(this.#options.shortRun), subject: index, clockDomain: 0 },
      moment: new Float64Array(1),
    });
    const due = new Float64Array(1);
    if (!source.prepare({ position: 0, stage: 0, seq: 0 }, due)) throw new Error(source.failure);
    const { message } = source;
    return { topic: message.topics.text(message.topic), message };
  }
}
