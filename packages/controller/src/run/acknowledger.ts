import type { BusReceiver } from '@squall/core/bus';
import type { RunAgent } from './run-agent.ts';

/**
 * The one place where agents are told what they may forget. What is folded is as safe as it ever
 * becomes while the measurements live in this process alone; a checkpoint moves the moment, not the
 * place.
 */
export class Acknowledger {
  readonly #bus: BusReceiver;
  readonly #told = new Map<RunAgent, number>();

  constructor(bus: BusReceiver) {
    this.#bus = bus;
  }

  /** Everything of the agent up to `seq` is in the measurements. */
  folded(agent: RunAgent, seq: number): void {
    this.#told.set(agent, seq);
    this.#tell(agent, seq);
  }

  /** The agent has a new link: what was said on the old one may never have arrived. */
  repeat(agent: RunAgent): void {
    const seq = this.#told.get(agent) ?? 0;
    if (seq > 0) this.#tell(agent, seq);
  }

  #tell(agent: RunAgent, seq: number): void {
    void this.#bus.acknowledge(agent.id, agent.epoch, seq);
  }
}
