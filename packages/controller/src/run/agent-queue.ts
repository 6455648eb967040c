import type { AgentSession } from '../hub/session.ts';

/** What the queue looks at in an agent. */
export interface Candidate {
  readonly connected: boolean;
  /** Connected, and in no run. */
  readonly idle: boolean;
  /** Null: not measured yet. */
  readonly clock: object | null;
  readonly facts: {
    readonly labels: Readonly<Record<string, string>>;
    readonly observes?: true | undefined;
  };
}

/** What a run asks for. */
export interface AgentWish {
  readonly run: string;
  /** Null: all that are free, one at least. */
  readonly count: number | null;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The runs that wait for agents, in the order in which they came. The first of those that agents fit
 * gets them. A run that has to wait for agents in use keeps the free ones that it will need, so that
 * runs that need fewer cannot overtake it for ever; what it cannot use is free for others, and a run
 * for which there are too few agents in all keeps none.
 */
export class AgentQueue<Agent extends Candidate = AgentSession> {
  readonly #agents: () => readonly Agent[];
  readonly #wishes = new Set<AgentWish>();
  readonly #listeners = new Set<() => void>();

  /** `agents`: all that are known at a moment, in the order of their ids. */
  constructor(agents: () => readonly Agent[]) {
    this.#agents = agents;
  }

  enter(wish: AgentWish): void {
    this.#wishes.add(wish);
  }

  leave(wish: AgentWish): void {
    this.#wishes.delete(wish);
    for (const listener of this.#listeners) listener();
  }

  /** Called when a run waits no more, so that the next may look again. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The agents that this run may take now, in the order of their ids; null: not its turn. */
  offer(wish: AgentWish): Agent[] | null {
    const free = new Set(this.#agents().filter((agent) => agent.idle));
    for (const earlier of this.#wishes) {
      if (earlier === wish) break;
      if (!this.isShort(earlier)) for (const agent of picked(earlier, free)) free.delete(agent);
    }
    const agents = picked(wish, free);
    return agents.length >= (wish.count ?? 1) ? agents : null;
  }

  /** Whether there are too few agents that fit even if all were free. */
  isShort(wish: AgentWish): boolean {
    return this.fitting(wish).length < (wish.count ?? 1);
  }

  /** Agents that fit, in use or not. */
  fitting(wish: AgentWish): Agent[] {
    return this.#agents().filter((agent) => fits(agent, wish));
  }
}

function picked<Agent extends Candidate>(wish: AgentWish, free: ReadonlySet<Agent>): Agent[] {
  return [...free].filter((agent) => fits(agent, wish)).slice(0, wish.count ?? undefined);
}

function fits(agent: Candidate, { labels }: AgentWish): boolean {
  if (agent.facts.observes === true) return false;
  // Without a clock estimate an agent could not start at T.
  if (!agent.connected || agent.clock === null) return false;
  return Object.entries(labels).every(([key, value]) => agent.facts.labels[key] === value);
}
