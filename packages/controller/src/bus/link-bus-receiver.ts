import type { BusReceiver, ReceivedFrame } from '@squall/core/bus';
import type { AgentHub } from '../hub/hub.ts';

/**
 * The controller's end of the link bus: frames come as binary messages on the agents' own links and
 * are acknowledged as `frame_ack` on the same. Order within an epoch is the link's.
 */
export class LinkBusReceiver implements BusReceiver {
  readonly #hub: AgentHub;
  readonly #listeners = new Set<(frame: ReceivedFrame) => void>();
  readonly #stop: () => void;

  constructor(hub: AgentHub) {
    this.#hub = hub;
    this.#stop = hub.onFrame((session, bytes) => {
      for (const listener of this.#listeners) listener({ agent: session.id, bytes });
    });
  }

  onFrame(listener: (frame: ReceivedFrame) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An acknowledgement that is lost with its link is repeated by the next one. */
  acknowledge(agent: string, epoch: number, seq: number): Promise<void> {
    const session = this.#hub.session(agent);
    const run = session?.run;
    if (session !== undefined && run !== null && run !== undefined) {
      session.send({ type: 'frame_ack', run, epoch, seq });
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#stop();
    this.#listeners.clear();
    return Promise.resolve();
  }
}
