import type { LedgerPage, WorkerPages } from '@squall/core/ledger/worker';
import type { MqttClients, MqttClientsOptions } from '@squall/mqtt';
import { type AssembledLoad, assembleLoad } from './assemble-load.ts';
import { PeerClocks } from './clients/peer-clocks.ts';
import { subscribedEntries } from './clients/subscribed-entries.ts';
import { MAX_ENTRIES } from './clients/subscriptions.ts';
import { type Moment, momentOf, type ReadClock } from './clock.ts';
import { Pacer } from './engine/pacer.ts';
import { descriptorShortage } from './host-limits.ts';
import type { FromWorker, ToWorker } from './ipc.ts';
import { LAST_DUTIES_MS, MAX_STAGES } from './limits.ts';
import { LoopDelay } from './measure/loop-delay.ts';
import type { CreateRocketmq } from './rocketmq/rocketmq-clients.ts';

/** What a worker needs of its process. */
export interface WorkerPlatform {
  readonly readClock: ReadClock;
  readonly createClients: (options: MqttClientsOptions) => MqttClients;
  readonly createRocketmq: CreateRocketmq;
  /** Descriptors that the process may hold. */
  readonly descriptorLimit: number;
  send(message: FromWorker): void;
  /** CPU seconds and the largest resident memory of the process so far. */
  usage(): { readonly cpuSeconds: number; readonly rssBytesMax: number };
  /** The worker is done: the process may go once what was sent has left. */
  exit(): void;
}

type Init = Extract<ToWorker, { type: 'init' }>;

interface Load extends AssembledLoad {
  readonly pacer: Pacer;
  readonly clockDomain: number;
}

/** One worker process, apart from its process: takes the agent's messages and runs the load. */
export class Worker {
  readonly #platform: WorkerPlatform;
  readonly #moment: Moment = new Float64Array(1);
  readonly #peers = new PeerClocks(this.#moment);
  readonly #delay = new LoopDelay();
  #load: Load | null = null;
  /** Of the ledger, once nothing is sent any more: the next page is made when it is asked for. */
  #pages: WorkerPages | null = null;
  #next: Iterator<LedgerPage, void> | null = null;
  #finishing = false;
  /** Nothing is measured any more: what arrived can be told, too. */
  #concluded = false;
  /** A page is on its way, and `next_page` will come. */
  #pageIsOut = false;

  constructor(platform: WorkerPlatform) {
    this.#platform = platform;
    platform.readClock(this.#moment);
  }

  onMessage(message: ToWorker): void {
    this.#platform.readClock(this.#moment);
    if (message.type === 'init') {
      this.#init(message);
      return;
    }
    if (message.type === 'next_page') {
      this.#pageIsOut = false;
      this.#givePage();
      return;
    }
    if (message.type === 'clocks') {
      this.#peers.see(message);
      return;
    }
    const load = this.#load;
    if (load === null) {
      if (message.type === 'finish') this.#leave();
      return;
    }
    switch (message.type) {
      case 'advance':
        load.engine.advance(message.stage, message.atUs);
        break;
      case 'clock':
        load.engine.clock(message.stage, message.atUs);
        break;
      case 'stop':
        load.engine.stop(message.mode);
        break;
      case 'finish':
        this.#finish(load);
        return;
    }
    load.pacer.wake();
  }

  /** Cuts every connection at once and says nothing more: the agent is gone. */
  abort(): void {
    this.#load?.pacer.stop();
    for (const group of this.#load?.groups ?? []) group.abort();
    this.#load = null;
  }

  #init(init: Init): void {
    const reasons = refusals(init, this.#platform.descriptorLimit);
    if (reasons.length === 0) {
      try {
        this.#load = this.#build(init);
      } catch (error) {
        reasons.push(error instanceof Error ? error.message : String(error));
      }
    }
    if (reasons.length > 0) this.#platform.send({ type: 'refused', reasons });
    else this.#platform.send({ type: 'ready' });
  }

  #build(init: Init): Load {
    const { readClock, createClients, createRocketmq } = this.#platform;
    // The load wakes the pacer, which is made of the load.
    let pacer: Pacer | null = null;
    const assembled = assembleLoad(init, {
      moment: this.#moment,
      peers: this.#peers,
      createClients,
      createRocketmq,
      wake: () => pacer?.wake(),
      reports: {
        started: (skewUs) => this.#platform.send({ type: 'started', skewUs }),
        stageState: (stage, state, failed) => {
          this.#platform.send({ type: 'stage_state', stage, state, failed });
          if (state === 'drained') this.#beginPages();
        },
        slice: (slice) => {
          const loopDelayP99Us = this.#delay.takeP99Us();
          this.#platform.send({ type: 'slice', slice, loopDelayP99Us });
        },
      },
    });
    pacer = new Pacer(assembled.engine, { moment: this.#moment, readClock }, this.#delay);
    return { ...assembled, pacer, clockDomain: init.clockDomain };
  }

  /** Some protocols have brokers asked, and leave in good order, before their connections close. */
  #finish(load: Load): void {
    if (this.#finishing) return;
    this.#finishing = true;
    const duties = load.groups.flatMap(({ lastDuties }) => lastDuties ?? []);
    if (duties.length === 0) this.#conclude(load);
    else void doneWithin(duties).then(() => this.#conclude(load));
  }

  #conclude(load: Load): void {
    load.engine.finish();
    load.pacer.stop();
    this.#beginPages();
    this.#load = null;
    void load.endClients();
    this.#concluded = true;
    this.#givePage();
  }

  /** What was sent is final once nothing is on its way to a broker; what arrives, at the end. */
  #beginPages(): void {
    const load = this.#load;
    if (load === null || this.#pages !== null) return;
    const nowUs = momentOf(this.#moment);
    const startUs = nowUs - load.engine.sinceStart(nowUs);
    this.#pages = load.ledger.pages({ domain: load.clockDomain, startUs });
    this.#next = this.#pages.sent();
    this.#givePage();
  }

  #givePage(): void {
    if (this.#pageIsOut || this.#next === null) return;
    const next = this.#next.next();
    if (next.done !== true) {
      this.#pageIsOut = true;
      this.#platform.send({ type: 'ledger', page: next.value });
      return;
    }
    if (!this.#concluded) return;
    this.#next = this.#pages?.arrived() ?? null;
    this.#pages = null;
    if (this.#next === null) this.#leave();
    else this.#givePage();
  }

  #leave(): void {
    this.#platform.send({ type: 'finished', ...this.#platform.usage() });
    this.#platform.exit();
  }
}

/** What fails here is missing in the report; nobody waits for longer than that. */
async function doneWithin(duties: readonly (() => Promise<void>)[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_DUTIES_MS);
  });
  await Promise.race([Promise.allSettled(duties.map((duty) => duty())), enough]);
  clearTimeout(timer);
}

/** Why the worker cannot take its share, one sentence each. */
function refusals(init: Init, limit: number): string[] {
  const { plan, ranges } = init;
  const reasons: string[] = [];
  const clients = ranges.reduce((sum, range) => sum + range.clients, 0);
  const shortage = descriptorShortage(clients, limit);
  if (shortage !== null) reasons.push(shortage);
  if (plan.stages.length > MAX_STAGES) {
    reasons.push(`the plan has ${plan.stages.length} stages, a worker takes at most ${MAX_STAGES}`);
  }
  for (const group of plan.groups) {
    const { entries } = subscribedEntries(group);
    if (entries.length <= MAX_ENTRIES) continue;
    reasons.push(
      `group ${group.name} has ${entries.length} entries to subscribe to, a client takes at most ${MAX_ENTRIES}`,
    );
  }
  return reasons;
}
