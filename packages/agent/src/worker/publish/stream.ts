// Data path
import { momentOf } from '../clock.ts';
import { at } from '../element.ts';
import type { MessageMaker } from './message-maker.ts';
import type { MessagePlace } from './message-source.ts';
import type { PublishGroup } from './publish-group.ts';
import type { StageRun } from './stage-run.ts';

export interface StreamOptions {
  /** Index in the group's `publish`. */
  readonly index: number;
  readonly subject: string;
  readonly qos: 0 | 1 | 2;
  readonly ackTimeoutUs: number;
  readonly group: PublishGroup;
  readonly source: MessageMaker;
}

/** One publish stream of a group, over all stages: windows, messages, live runs. */
export class Stream {
  readonly index: number;
  readonly subject: string;
  readonly qos: 0 | 1 | 2;
  readonly ackTimeoutUs: number;
  readonly group: PublishGroup;
  /** Messages of QoS 1 and 2 in flight a client, of all stages: the window does not start anew with a stage. */
  readonly inflight: Uint16Array;
  /** Live runs, the oldest stage first. */
  readonly runs: StageRun[] = [];
  readonly #source: MessageMaker;
  /** Why the broker would not take the last message; empty where it would. */
  #refusal = '';

  constructor(options: StreamOptions) {
    this.index = options.index;
    this.subject = options.subject;
    this.qos = options.qos;
    this.ackTimeoutUs = options.ackTimeoutUs;
    this.group = options.group;
    this.#source = options.source;
    this.inflight = new Uint16Array(options.group.order.count);
  }

  /** The live run of a stage. */
  runOf(stage: number): StageRun | undefined {
    for (const run of this.runs) if (run.stage === stage) return run;
    return undefined;
  }

  /** Why the last message could not be made. */
  get failure(): string {
    return this.#refusal === '' ? this.#source.failure : this.#refusal;
  }

  /** Whether the broker takes the message that was made last. */
  #isTaken(position: number): boolean {
    this.#refusal = '';
    const { clients } = this.group;
    if (at(clients.limits.isTight, position) === 0) return true;
    this.#refusal = clients.publishRefusal(position, this.#source.message) ?? '';
    return this.#refusal === '';
  }

  /** Hands a message to its client's socket; gives its payload's bytes, or -1 where it failed. */
  publish(place: MessagePlace, dueUs: Float64Array): number {
    const source = this.#source;
    if (!source.prepare(place, dueUs)) return -1;
    const { group } = this;
    const { position } = place;
    const { message } = source;
    if (group.isLimited && !this.#isTaken(position)) return -1;
    if (this.qos !== 0) {
      const { table } = group;
      const entry = table.acquire(position);
      table.dueUs[entry] = at(dueUs, 0);
      table.sentUs[entry] = momentOf(group.moment);
      table.stage[entry] = place.stage;
      table.stream[entry] = this.index;
      group.seqs[entry] = place.seq;
      message.packetId = table.packetId(entry);
      this.inflight[position] = at(this.inflight, position) + 1;
      group.kept?.keep(entry, message, source.ownTopics);
    }
    group.clients.publish(position, message);
    return message.payload.length;
  }
}
