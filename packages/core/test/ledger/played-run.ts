import type { Plan } from '@squall/core/plan';
import { type GroupSketch, sketchPlan } from './ledger-plans.ts';
import { type Count, Oracle } from './oracle.ts';
import { item, type Message, PAYLOAD_BYTES, Simulation } from './simulation.ts';

/** What the broker and the links do to one message. */
export interface Fate {
  readonly stream: number;
  readonly stage: 0 | 1;
  readonly client: number;
  /** `kept`: no acknowledgement, but delivered. `gone`: neither. */
  readonly ack: 'acked' | 'kept' | 'gone';
  /** By subscriber, round and round. */
  readonly delivery: readonly Delivery[];
}
export type Delivery = 'once' | 'drop' | 'twice' | 'later' | 'corrupt' | 'again later';

/** What happens between messages. */
export type Event =
  | { readonly kind: 'publish'; readonly fate: Fate }
  /** A subscriber loses its connection; what comes meanwhile is queued or lost. */
  | { readonly kind: 'away'; readonly subscriber: number; readonly kept: boolean }
  | { readonly kind: 'back'; readonly subscriber: number }
  | { readonly kind: 'foreign'; readonly subscriber: number };

export interface Topology {
  readonly groups: readonly GroupSketch[];
  readonly agents: readonly { agent: string; workers: number }[];
}

interface Reader {
  readonly client: number;
  losses: number;
  away: boolean;
  kept: boolean;
  readonly queue: Message[];
  readonly later: Message[];
}

interface Published {
  readonly message: Message;
  readonly acked: boolean;
  readonly audience: readonly number[];
}

/** Plays a run: gives the simulation with its workers, and what the oracle counted. */
export function play(topology: Topology, events: readonly Event[]) {
  const run = new PlayedRun(topology);
  for (const event of events) run.happens(event);
  run.ends();
  return { simulation: run.simulation, counts: run.oracle.counts };
}

/** Publishers, a broker with faults and subscribers, of whom the oracle sees everything. */
class PlayedRun {
  readonly simulation: Simulation;
  readonly oracle = new Oracle();
  readonly #plan: Plan;
  readonly #readers: readonly Reader[];
  readonly #published: Published[] = [];

  constructor({ groups, agents }: Topology) {
    this.#plan = sketchPlan(groups, [
      { name: 'first', run: { devices: ['publish'], readers: ['subscribe'] } },
      { name: 'second', run: { devices: ['publish'] } },
    ]);
    this.simulation = new Simulation(this.#plan, agents);
    this.#readers = Array.from({ length: item(this.#plan.groups, 1).clients }, (_, client) => {
      this.simulation.subscribe(1, client);
      return { client, losses: 0, away: false, kept: false, queue: [], later: [] };
    });
  }

  happens(event: Event): void {
    this.simulation.tick();
    if (event.kind === 'publish') {
      this.#publish(event.fate);
      return;
    }
    const reader = item(this.#readers, event.subscriber % this.#readers.length);
    if (event.kind === 'away') this.#leave(reader, event.kept);
    else if (event.kind === 'back') this.#return(reader);
    else this.#foreign(reader);
  }

  ends(): void {
    for (const reader of this.#readers) {
      for (const message of reader.later.splice(0)) this.#deliver(message, reader);
    }
    for (const { message, acked, audience } of this.#published) {
      for (const client of audience) this.#judge(message, acked, item(this.#readers, client));
    }
  }

  #publish({ stream, stage, client, ack, delivery }: Fate): void {
    const { clients, publish } = item(this.#plan.groups, 0);
    if (stream >= publish.length) return;
    const message = this.simulation.publish(stream, stage, client % clients);
    if (ack !== 'acked') this.simulation.unresolved(message);
    const audience = [...this.simulation.audience(message.topic)].map((each) => each.client);
    this.#published.push({ message, acked: ack === 'acked', audience });
    if (ack === 'gone') return;
    for (const each of audience) {
      this.#come(message, item(this.#readers, each), item(delivery, each % delivery.length));
    }
  }

  #come(message: Message, reader: Reader, how: Delivery): void {
    if (how === 'drop') return;
    if (reader.away) {
      if (reader.kept) reader.queue.push(message);
      return;
    }
    if (how === 'corrupt') {
      const bytes = message.bytes.slice();
      bytes[PAYLOAD_BYTES - 1] = item([...bytes], PAYLOAD_BYTES - 1) ^ 0x10;
      this.simulation.receive({ group: 1, client: reader.client }, bytes);
      this.#count(message, 'corrupted');
      return;
    }
    if (how === 'later') {
      reader.later.push(message);
      return;
    }
    this.#deliver(message, reader);
    if (how === 'twice') this.#deliver(message, reader);
    if (how === 'again later') reader.later.push(message);
    else for (const held of reader.later.splice(0)) this.#deliver(held, reader);
  }

  #deliver(message: Message, reader: Reader): void {
    this.simulation.receive({ group: 1, client: reader.client }, message.bytes);
    const { seq } = message;
    const { losses } = reader;
    this.oracle.arrived(this.#rowOf(message), pairOf(message, reader), { seq, losses });
  }

  #leave(reader: Reader, kept: boolean): void {
    if (reader.away) return;
    reader.away = true;
    reader.kept = kept;
    reader.losses += 1;
    reader.later.length = 0;
    this.simulation.disconnect(1, reader.client);
  }

  #return(reader: Reader): void {
    if (!reader.away) return;
    reader.away = false;
    this.simulation.subscribe(1, reader.client);
    for (const message of reader.queue) this.#deliver(message, reader);
    // A broker sends again what it does not know to have arrived.
    const last = reader.queue.at(-1);
    if (last !== undefined) this.#deliver(last, reader);
    reader.queue.length = 0;
  }

  #foreign(reader: Reader): void {
    if (reader.away) return;
    this.simulation.receive({ group: 1, client: reader.client }, new Uint8Array(PAYLOAD_BYTES));
    this.oracle.count(`(unknown) readers ${this.#entryQos()} 0`, 'foreign');
  }

  #judge(message: Message, acked: boolean, reader: Reader): void {
    const pair = pairOf(message, reader);
    const came = this.oracle.has(pair, message.seq);
    if (!acked) {
      this.#count(message, 'unresolved');
      if (came) this.#count(message, 'unresolvedArrived');
      return;
    }
    this.#count(message, 'expected');
    this.#count(message, came ? 'unique' : 'lost');
    if (!came && this.oracle.wasAway(pair, message.seq, reader.losses)) {
      this.#count(message, 'lostDisconnected');
    }
  }

  #count(message: Message, count: Count): void {
    this.oracle.count(this.#rowOf(message), count);
  }

  #rowOf({ stream, stage }: Message): string {
    const { subject, qos } = item(item(this.#plan.groups, 0).publish, stream);
    return `${subject} readers ${Math.min(qos, this.#entryQos())} ${stage}`;
  }

  #entryQos(): number {
    return item(item(this.#plan.groups, 1).subscribe, 0).qos;
  }
}

function pairOf({ stream, stage, publisher }: Message, { client }: Reader): string {
  return `${client} ${stream} ${stage} ${publisher}`;
}
