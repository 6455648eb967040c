import type { BusReceiver } from '@squall/core/bus';
import type { AgentPosition } from '../store/store.ts';

/** When frames are as safe as they ever become: in the measurements, or in a checkpoint of them. */
type SafeWhen = 'folded' | 'saved';

/** The one place where agents are told what they may forget. */
export class Acknowledger {
  readonly #bus: BusReceiver;
  readonly #safeWhen: SafeWhen;
  readonly #told = new Map<string, AgentPosition>();

  constructor(bus: BusReceiver, safeWhen: SafeWhen) {
    this.#bus = bus;
    this.#safeWhen = safeWhen;
  }

  /** Everything of the agent up to here is in the measurements. */
  folded(position: AgentPosition): void {
    if (this.#safeWhen === 'folded') this.#take(position);
  }

  /** Everything up to here is in a checkpoint. */
  saved(positions: readonly AgentPosition[]): void {
    for (const position of positions) this.#take(position);
  }

  /** The agent has a new link: what was said on the old one may never have arrived. */
  repeat(agent: string): void {
    const position = this.#told.get(agent);
    if (position !== undefined) this.#tell(position);
  }

  #take(position: AgentPosition): void {
    if (position.seq <= (this.#told.get(position.agent)?.seq ?? 0)) return;
    this.#told.set(position.agent, position);
    this.#tell(position);
  }

  #tell({ agent, epoch, seq }: AgentPosition): void {
    void this.#bus.acknowledge(agent, epoch, seq);
  }
}
