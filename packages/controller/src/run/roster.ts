import type { FromController } from '@squall/core/control';
import type { AgentSession, RunMessage } from '../hub/session.ts';
import type { SavedOrders } from './checkpoint/saved-run.ts';
import type { RunAgent } from './run-agent.ts';

type StageState = Extract<RunMessage, { type: 'stage_state' }>;
/** Orders without the address, which differs only by agent. */
type Order = Extract<FromController, { type: 'advance' | 'clock' | 'finish' | 'stop' }>;
type Body<Message> = Message extends Message ? Omit<Message, 'run' | 'epoch'> : never;
export type OrderBody = Body<Order>;
type News = Body<Extract<FromController, { type: 'clocks' }>>;

export interface RosterParts {
  readonly run: string;
  readonly agents: readonly RunAgent[];
  /**
   * Puts the run away with the orders that are about to be given: a controller that dies must leave
   * none behind that the next one does not know. Null: nothing is kept, nothing is waited for.
   */
  readonly keep: () => Promise<void> | null;
  /** Of an earlier life of the run. */
  readonly orders?: SavedOrders;
}

/** The agents of one run, what they were told, and what they have reported about its stages. */
export class Roster {
  readonly #run: string;
  readonly #agents: readonly RunAgent[];
  readonly #keep: RosterParts['keep'];
  /** Newest order of each kind, in the order of giving: what an agent that comes back must hear. */
  readonly #standing: Map<string, OrderBody>;
  /** By what was reached: the agents that have. */
  readonly #reports: Map<string, Set<string>>;

  constructor({ run, agents, keep, orders }: RosterParts) {
    this.#run = run;
    this.#agents = agents;
    this.#keep = keep;
    this.#standing = new Map(orders?.standing.map((order) => [order.type, order]));
    this.#reports = new Map(orders?.reports.map(([key, ids]) => [key, new Set(ids)]));
  }

  toJSON(): SavedOrders {
    return {
      standing: [...this.#standing.values()],
      reports: [...this.#reports].map(([key, ids]) => [key, [...ids]]),
    };
  }

  get agents(): readonly RunAgent[] {
    return this.#agents;
  }

  /** Agents that still count: neither lost nor refused. */
  live(): RunAgent[] {
    return this.#agents.filter((agent) => agent.lost === null && agent.state !== 'refused');
  }

  /** The longest round trip to any of them. */
  rttUs(): number {
    return Math.max(0, ...this.live().map((agent) => agent.session.clock?.rttUs ?? 0));
  }

  /** Whether the agents were told to finish: from then on they leave rightly. */
  get finishOrdered(): boolean {
    return this.#standing.has('finish');
  }

  of(session: AgentSession): RunAgent | undefined {
    return this.#agents.find((agent) => agent.session === session);
  }

  /** Gives an order to every live agent, and again to those that come back to a cut link. */
  order(order: OrderBody): void {
    this.#standing.delete(order.type);
    this.#standing.set(order.type, order);
    this.#onceKept(() => {
      for (const agent of this.live()) this.#give(agent, order);
    });
  }

  /** Says something to every live agent that is soon out of date: it is not said again. */
  tell(news: News): void {
    for (const agent of this.live()) this.#give(agent, news);
  }

  /** Agents take orders that they have carried out already for what they are: old. */
  repeatOrders(agent: RunAgent): void {
    this.#onceKept(() => {
      for (const order of this.#standing.values()) this.#give(agent, order);
    });
  }

  take(agent: RunAgent, report: StageState): void {
    const key = reportKey(report.stage, report.state);
    this.#reports.set(key, (this.#reports.get(key) ?? new Set<string>()).add(agent.id));
  }

  /** Whether every live agent has reported this. Where none is left, nobody is waited for. */
  all(stage: number, state: StageState['state']): boolean {
    const reports = this.#reports.get(reportKey(stage, state));
    return this.live().every((agent) => reports?.has(agent.id) ?? false);
  }

  #onceKept(give: () => void): void {
    const kept = this.#keep();
    if (kept === null) give();
    else void kept.then(give);
  }

  #give(agent: RunAgent, order: OrderBody | News): void {
    agent.session.send({ ...order, run: this.#run, epoch: agent.epoch });
  }
}

/** There is one drain, after the end of the load: whichever stage the agent names with it. */
function reportKey(stage: number, state: StageState['state']): string {
  return state === 'drained' ? state : `${stage} ${state}`;
}
