import type { BusLink, BusReceiver, ReceivedFrame } from '@squall/core/bus';
import type { AgentHub } from '../hub/hub.ts';
import { linksOf } from './agent-links.ts';

/**
 * The controller's end of the link bus: frames come as binary messages on the agents' own links and
 * are acknowledged as `frame_ack` on the same. Order within an epoch is the link's.
 */
export class LinkBusReceiver implements BusReceiver {
  readonly #links: BusLink;
  readonly #listeners = new Set<(frame: ReceivedFrame) => void>();
  readonly #stop: () => void;

  constructor(hub: AgentHub) {
    this.#links = linksOf(hub);
    this.#stop = hub.onFrame((session, bytes) => {
      for (const listener of this.#listeners) listener({ agent: session.id, bytes });
    });
  }

  onFrame(listener: (frame: ReceivedFrame) => void): void {
    this.#listeners.add(listener);
  }

  acknowledge(agent: string, epoch: number, seq: number): Promise<void> {
    this.#links.acknowledge(agent, epoch, seq);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#stop();
    this.#listeners.clear();
    return Promise.resolve();
  }
}
