import type { FromController } from '@squall/core/control';
import type { AgentSession, RunMessage } from '../hub/session.ts';
import type { RunAgent } from './run-agent.ts';

type StageState = Extract<RunMessage, { type: 'stage_state' }>;
/** Orders without the address, which differs only by agent. */
type Order = Extract<FromController, { type: 'advance' | 'clock' | 'finish' | 'stop' }>;
export type OrderBody = Order extends infer T
  ? T extends T
    ? Omit<T, 'run' | 'epoch'>
    : never
  : never;

/** The agents of one run, and what they have reported about its stages. */
export class Roster {
  readonly #run: string;
  readonly #agents: readonly RunAgent[];
  /** Newest order of each kind, in the order of giving: what an agent that comes back must hear. */
  readonly #standing = new Map<string, OrderBody>();
  readonly #reports = new Map<string, Map<string, StageState>>();

  constructor(run: string, agents: readonly RunAgent[]) {
    this.#run = run;
    this.#agents = agents;
  }

  get agents(): readonly RunAgent[] {
    return this.#agents;
  }

  /** Agents that still count: neither lost nor refused. */
  live(): RunAgent[] {
    return this.#agents.filter((agent) => agent.lost === null && agent.state !== 'refused');
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
    for (const agent of this.live()) this.#give(agent, order);
  }

  /** Agents take orders that they have carried out already for what they are: old. */
  repeatOrders(agent: RunAgent): void {
    for (const order of this.#standing.values()) this.#give(agent, order);
  }

  take(agent: RunAgent, report: StageState): void {
    const key = reportKey(report.stage, report.state);
    const reports = this.#reports.get(key) ?? new Map<string, StageState>();
    this.#reports.set(key, reports.set(agent.id, report));
  }

  /** Whether every live agent has reported this. Where none is left, nobody is waited for. */
  all(stage: number, state: StageState['state']): boolean {
    const reports = this.#reports.get(reportKey(stage, state));
    return this.live().every((agent) => reports?.has(agent.id) ?? false);
  }

  #give(agent: RunAgent, order: OrderBody): void {
    agent.session.send({ ...order, run: this.#run, epoch: agent.epoch });
  }
}

/** There is one drain, after the end of the load: whichever stage the agent names with it. */
function reportKey(stage: number, state: StageState['state']): string {
  return state === 'drained' ? state : `${stage} ${state}`;
}
