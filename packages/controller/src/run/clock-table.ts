import { DomainClocks } from '@squall/core/clock';
import { clockDomainHash } from '@squall/core/stamp';
import type { TimeSource } from '../time-source.ts';
import type { Roster } from './roster.ts';
import type { RunAgent } from './run-agent.ts';

/** How often agents hear of each other's clocks, where they are few. */
const INTERVAL_US = 1_000_000;
/** Clocks told a second to all agents together: many agents on many hosts hear of them less often. */
const MAX_TOLD_PER_S = 20_000;

export interface ClockTableScene {
  readonly time: TimeSource;
  readonly roster: Roster;
  /** Of the controller. */
  readonly clockDomain: string;
  /** Delivery times between hosts cannot be trusted; said once for a reason. */
  doubt(reason: string): void;
}

/**
 * Tells every agent how the clocks of all hosts in the run relate, so that it can time what comes from
 * another one. Where all agents share one clock nothing is ever told.
 */
export class ClockTable {
  readonly #scene: ClockTableScene;
  readonly #clocks: DomainClocks;
  readonly #doubts = new Set<string>();
  #stopTimer: () => void = () => {};

  constructor(scene: ClockTableScene) {
    this.#scene = scene;
    this.#clocks = new DomainClocks(clockDomainHash(scene.clockDomain));
    this.#tell();
  }

  stop(): void {
    this.#stopTimer();
  }

  #tell(): void {
    const { roster, time } = this.#scene;
    const live = roster.live();
    const jumped = live.filter((agent) => !this.#take(agent)).map(({ id }) => id);
    const nowUs = time.monotonicUs();
    const { clocks, contradictions } = this.#clocks.at(nowUs);
    for (const agents of contradictions) this.#doubt(reasonFor(agents));
    // Where there is one clock, its jumps are the same for senders and receivers.
    if (clocks.length > 1) for (const id of jumped) this.#doubt(`the clock of agent ${id} jumped`);
    if (clocks.length > 1) roster.tell({ type: 'clocks', at: nowUs, domains: [...clocks] });
    const told = clocks.length * live.length;
    const intervalUs = Math.max(INTERVAL_US, (told / MAX_TOLD_PER_S) * 1_000_000);
    this.#stopTimer = time.after(intervalUs, () => this.#tell());
  }

  /** False where the agent says other than before. */
  #take({ id, session: { clock, facts } }: RunAgent): boolean {
    return clock === null || this.#clocks.take(id, clockDomainHash(facts.clockDomain), clock);
  }

  #doubt(reason: string): void {
    if (this.#doubts.has(reason)) return;
    this.#doubts.add(reason);
    this.#scene.doubt(reason);
  }
}

/** Agents that name one clock domain and whose reports do not fit together. */
function reasonFor(agents: readonly string[]): string {
  const names = agents.toSorted().join(', ');
  return agents.length === 1
    ? `the clock of agent ${names} is said to be the controller's, and is not`
    : `the clocks of agents ${names} are said to be one, and are not`;
}
