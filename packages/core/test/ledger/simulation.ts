import { decodeFrame, encodeFrame } from '@squall/core/metrics';
import { split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { runHash, SENT, StampReader, StampWriter } from '@squall/core/stamp';
import {
  type Arrival,
  LedgerJoin,
  type LedgerPage,
  ledgerPlan,
  type LedgerPlan,
  type LedgerResult,
  matchesFilter,
  type PublisherBook,
  PlanNames,
  PublisherLedger,
  type SubscriberBook,
  SubscriberLedger,
  topicsOf,
  WorkerPages,
} from '@squall/core/ledger';

const RUN = 'run-1';
export const PAYLOAD_BYTES = 48;

export interface WorkerSketch {
  readonly agent: string;
  readonly workers: number;
  /** Clock domain of the agent's host. */
  readonly domain?: number;
}

/** A message as the broker holds it. */
export interface Message {
  readonly stream: number;
  readonly stage: number;
  readonly publisher: number;
  readonly seq: number;
  readonly topic: string;
  readonly bytes: Uint8Array;
}

export interface ReceiveOptions {
  readonly retained?: boolean;
  readonly entry?: number;
  readonly stage?: number;
  /** Where it came; unless said, nobody knows. */
  readonly topic?: string;
  /** What the plan makes of it, unless said. */
  readonly qos?: number;
}

interface Worker {
  readonly agent: string;
  readonly worker: number;
  readonly domain: number;
  readonly publishers: PublisherLedger;
  readonly subscribers: SubscriberLedger;
  readonly numbers: readonly Uint32Array[];
  readonly books: ReadonlyMap<number, SubscriberBook>;
  readonly streams: Map<string, PublisherBook>;
}

/**
 * The workers of a run with their ledgers, without sockets: tests play the broker. The clock is one
 * for all and moves by hand.
 */
export class Simulation {
  readonly plan: LedgerPlan;
  readonly moment = new Float64Array([1_000_000]);
  readonly #names: PlanNames;
  readonly #agents: readonly WorkerSketch[];
  readonly #workers: Worker[] = [];
  readonly #reader = new StampReader();
  readonly #arrival: Arrival = {
    position: 0,
    entry: 0,
    stage: 0,
    retained: false,
    qos: 0,
    topic: { bytes: new Uint8Array(0), from: 0, length: -1 },
    bytes: new Uint8Array(0),
    payloadAt: 0,
    payloadLength: 0,
  };

  constructor(plan: Plan, agents: readonly WorkerSketch[], maxPairs?: number) {
    this.plan = ledgerPlan(plan);
    this.#names = new PlanNames({ plan: this.plan, shortRun: 'r1', secrets: {} });
    this.#agents = agents;
    for (const share of this.#split()) {
      const domain = agents.find(({ agent }) => agent === share.agent)?.domain ?? 1;
      for (const [worker, { groups }] of share.workers.entries()) {
        // Backwards: positions are not client numbers.
        const numbers = groups.map(({ first, clients }) =>
          Uint32Array.from({ length: clients }, (_, k) => first + clients - 1 - k),
        );
        const subscribers = new SubscriberLedger({
          plan: this.plan,
          runHash: runHash(RUN),
          moment: this.moment,
          clockDomain: domain,
          topicOf: topicsOf(this.#names),
          ...(maxPairs === undefined ? {} : { maxPairs }),
        });
        const books = new Map<number, SubscriberBook>();
        for (const [group, { subscribe }] of plan.groups.entries()) {
          if (subscribe.length === 0) continue;
          const own = item(numbers, group);
          const filtersOf = (position: number) => this.#filtersOf(group, own[position] ?? 0);
          books.set(group, subscribers.book(group, own, filtersOf));
        }
        const publishers = new PublisherLedger(this.moment);
        const { agent } = share;
        const streams = new Map<string, PublisherBook>();
        const ledgers = { publishers, subscribers, numbers, books, streams };
        this.#workers.push({ agent, worker, domain, ...ledgers });
      }
    }
  }

  tick(us = 1_000): void {
    this.moment[0] = (this.moment[0] ?? 0) + us;
  }

  /** Grants every filter of a subscriber, or one. */
  subscribe(group: number, client: number, options: { qos?: number; filter?: number } = {}): void {
    const { book, position } = this.#subscriber(group, client);
    const filters = this.plan.filters[group] ?? [];
    for (const [k, { entry }] of filters.entries()) {
      if (options.filter !== undefined && options.filter !== k) continue;
      book.states.granted(position, k, options.qos ?? entry.spec.qos);
    }
  }

  refuse(group: number, client: number, filter: number): void {
    const { book, position } = this.#subscriber(group, client);
    book.states.refused(position, filter);
  }

  end(group: number, client: number): void {
    const { book, position } = this.#subscriber(group, client);
    book.states.ended(position);
  }

  disconnect(group: number, client: number): void {
    const { book, position } = this.#subscriber(group, client);
    book.states.disconnected(position);
  }

  /** Hands the next message of a client to its socket. */
  publish(stream: number, stage: number, client: number): Message {
    const { book, position, worker } = this.#publisher(stream, stage, client);
    const seq = book.nextOf(position);
    book.handed(position);
    const parts = this.plan.stamped[stream];
    const spec = parts?.[parts[0]?.turns?.topicOf(client, seq) ?? 0];
    if (spec === undefined) throw new Error('no such stream');
    const writer = new StampWriter({
      runHash: runHash(RUN),
      subject: stream,
      clockDomain: worker.domain,
    });
    const bytes = new Uint8Array(PAYLOAD_BYTES).fill(seq);
    writer.stage = stage;
    writer.publisher = client;
    writer.seq = seq;
    writer.timesUs[SENT] = this.moment[0] ?? 0;
    writer.takeRest(bytes, 0, PAYLOAD_BYTES);
    writer.write(bytes, 0);
    const topic = spec.topic.render(contextOf(this.plan.plan, spec.group, client));
    return { stream, stage, publisher: client, seq, topic, bytes };
  }

  refusePublish({ stream, stage, publisher, seq }: Message): void {
    const { book, position } = this.#publisher(stream, stage, publisher);
    book.refused(position, seq);
  }

  unresolved({ stream, stage, publisher, seq }: Message): void {
    const { book, position } = this.#publisher(stream, stage, publisher);
    book.unresolved(position, seq);
  }

  mark(stage: number): void {
    for (const worker of this.#workers) {
      for (const book of worker.streams.values()) if (book.stage === stage) book.mark();
    }
  }

  receive(
    to: { readonly group: number; readonly client: number },
    bytes: Uint8Array,
    options: ReceiveOptions = {},
  ): number {
    const { book, position } = this.#subscriber(to.group, to.client);
    const arrival = this.#arrival;
    const outcome = this.#reader.read(bytes, 0, bytes.length);
    const topic = options.topic === undefined ? null : new TextEncoder().encode(options.topic);
    arrival.topic.bytes = topic ?? bytes;
    arrival.topic.length = topic?.length ?? -1;
    arrival.qos = options.qos ?? this.#qosFor(to.group);
    arrival.position = position;
    arrival.entry = options.entry ?? 0;
    arrival.stage = options.stage ?? 0;
    arrival.retained = options.retained ?? false;
    arrival.bytes = bytes;
    arrival.payloadLength = bytes.length;
    return book.receive(arrival, this.#reader, outcome);
  }

  /** Connects a subscriber anew; its session is kept for so long, unless it is said to be lost. */
  reconnect(group: number, client: number, sessionPresent: boolean, keepsUs = Infinity): void {
    const { book, position } = this.#subscriber(group, client);
    book.states.connected(position, sessionPresent, keepsUs);
  }

  /** Subscribers that the plan's filters give a topic to, all of them subscribed or not. */
  *audience(topic: string): Generator<{ group: number; client: number; filters: number }> {
    const { plan, filters } = this.plan;
    for (const [group, { clients }] of plan.groups.entries()) {
      for (let client = 0; client < clients; client++) {
        const context = contextOf(plan, group, client);
        const matching = (filters[group] ?? []).filter(({ template }) =>
          matchesFilter(template.render(context), topic),
        );
        if (matching.length > 0) yield { group, client, filters: matching.length };
      }
    }
  }

  /** All pages, as frames carry them, in the order in which workers make them. */
  pages(maxNumbers = 1_000): { agent: string; page: LedgerPage }[] {
    const all: { agent: string; page: LedgerPage }[] = [];
    for (const { agent, worker, domain, publishers, subscribers } of this.#workers) {
      const clock = { domain, startUs: 1_000_000 };
      const pages = new WorkerPages({ worker, clock, publishers, subscribers, maxNumbers });
      for (const page of [...pages.sent(), ...pages.arrived()]) {
        all.push({ agent, page: overTheBus(agent, page) });
      }
    }
    return all;
  }

  /** What the end of a run waits for, by the pages that are here when nothing is sent any more. */
  goal(pages: readonly { readonly agent: string; readonly page: LedgerPage }[]): number | null {
    const join = this.#joinOf(pages);
    if (!join.allSent) return null;
    return finished(join.goal());
  }

  join(
    pages: readonly { readonly agent: string; readonly page: LedgerPage }[],
    maxPairs?: number,
  ): LedgerResult {
    return finished(this.#joinOf(pages, maxPairs).join());
  }

  #joinOf(
    pages: readonly { readonly agent: string; readonly page: LedgerPage }[],
    maxPairs?: number,
  ): LedgerJoin {
    const join = new LedgerJoin({
      plan: this.plan.plan,
      split: this.#split(),
      shortRun: 'r1',
      secrets: {},
      ...(maxPairs === undefined ? {} : { maxPairs }),
    });
    for (const { agent, page } of pages) join.add(agent, page);
    return join;
  }

  /** The lower one of what the message just read was published with and what was asked for. */
  #qosFor(group: number): number {
    const sent = this.plan.stamped[this.#reader.subject]?.[0]?.spec.qos ?? 0;
    const asked = (this.plan.filters[group] ?? []).map(({ entry }) => entry.spec.qos);
    return Math.min(sent, Math.max(0, ...asked));
  }

  #filtersOf(group: number, client: number): string[] {
    const filters = this.plan.filters[group] ?? [];
    return filters.map(({ template }) => this.#names.render(template, group, client));
  }

  #split() {
    return split(
      this.plan.plan.groups.map(({ clients }) => clients),
      this.#agents,
    );
  }

  #subscriber(group: number, client: number) {
    const { worker, position } = this.#ownerOf(group, client);
    const book = worker.books.get(group);
    if (book === undefined) throw new Error(`group ${group} does not subscribe`);
    return { book, position };
  }

  #publisher(stream: number, stage: number, client: number) {
    const group = this.plan.stamped[stream]?.[0]?.group ?? 0;
    const { worker, position } = this.#ownerOf(group, client);
    const key = `${stream} ${stage}`;
    let book = worker.streams.get(key);
    if (book === undefined) {
      const numbers = item(worker.numbers, group);
      book = worker.publishers.book({ stream, stage, numbers });
      worker.streams.set(key, book);
    }
    return { book, position, worker };
  }

  #ownerOf(group: number, client: number): { worker: Worker; position: number } {
    for (const worker of this.#workers) {
      const position = worker.numbers[group]?.indexOf(client) ?? -1;
      if (position >= 0) return { worker, position };
    }
    throw new Error(`nobody owns client ${client} of group ${group}`);
  }
}

function finished<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function overTheBus(agent: string, page: LedgerPage): LedgerPage {
  const frame = { run: RUN, agent, epoch: 1, seqFrom: 1, seqTo: 1, slices: [], pages: [page] };
  const arrived = decodeFrame(encodeFrame(frame)).pages?.[0];
  if (arrived === undefined) throw new Error('the page is gone');
  return arrived;
}

function contextOf(plan: Plan, group: number, client: number) {
  const { clients, name } = item(plan.groups, group);
  return {
    n: client,
    blockN: client,
    clients,
    group: name,
    seq: 0,
    nowMs: 0,
    run: 'r1',
    secrets: {},
    vars: {},
    random: () => 0,
  };
}

/** An element that is known to be there. */
export function item<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) throw new RangeError(`there is no element ${index}`);
  return value;
}
