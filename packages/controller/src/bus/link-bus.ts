import type { BusAssignment, BusReceiver, RunBus } from '@squall/core/bus';
import type { AgentHub } from '../hub/hub.ts';
import { LinkBusReceiver } from './link-bus-receiver.ts';

/** The link bus: frames travel on the agents' own links. Nothing to open, nothing to leave behind. */
export class LinkBus implements RunBus {
  readonly assignment: BusAssignment = { kind: 'link' };
  /** A link that is cut is an agent's grace to mend, which the run waits for anyway. */
  readonly patienceUs = 0;
  readonly noticeUs = 0;
  readonly #hub: AgentHub;

  constructor(hub: AgentHub) {
    this.#hub = hub;
  }

  open(): Promise<BusReceiver> {
    return Promise.resolve(new LinkBusReceiver(this.#hub));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
