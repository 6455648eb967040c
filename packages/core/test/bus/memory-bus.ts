import type { BusReceiver, BusSender, EncodedFrame, ReceivedFrame } from '@squall/core/bus';
import type { BusRig } from '../bus-conformance.ts';

/**
 * The smallest thing that is a bus: a list of frames under way. It shows that the suite can be
 * passed, and stands in where a test needs a bus and no sockets.
 */
export class MemoryBus implements BusRig {
  readonly agent = 'agent-1';
  readonly run = 'run-1';
  readonly epoch = 1;
  readonly #onFrame: ((frame: ReceivedFrame) => void)[] = [];
  readonly #onAcknowledged: ((seq: number) => void)[] = [];
  #underWay: ReceivedFrame[] = [];
  #isCut = false;
  #isClosed = false;
  #isDeaf = false;
  #copies = 1;

  readonly sender: BusSender = {
    send: async (frames: readonly EncodedFrame[]) => {
      if (this.#isClosed || this.#isCut) throw new Error('the way is cut');
      for (const { bytes } of frames) this.#launch({ agent: this.agent, bytes });
      return frames.at(-1)?.seqTo ?? 0;
    },
    onAcknowledged: (listener) => void this.#onAcknowledged.push(listener),
    close: () => Promise.resolve(void (this.#isClosed = true)),
  };

  readonly receiver: BusReceiver = {
    onFrame: (listener) => void this.#onFrame.push(listener),
    acknowledge: async (_agent, _epoch, seq) => {
      if (this.#isDeaf || this.#isCut) return;
      for (const listener of this.#onAcknowledged) listener(seq);
    },
    close: () => Promise.resolve(),
  };

  async cut(): Promise<void> {
    this.#isCut = true;
    // Half of what is under way still arrives: sent does not mean received.
    this.#underWay.splice(Math.floor(this.#underWay.length / 2));
  }

  async restore(): Promise<void> {
    this.#isCut = false;
  }

  loseAcknowledgements(on: boolean): void {
    this.#isDeaf = on;
  }

  duplicate(on: boolean): void {
    this.#copies = on ? 2 : 1;
  }

  async quiet(): Promise<void> {
    while (this.#underWay.length > 0) await Promise.resolve();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #launch(frame: ReceivedFrame): void {
    for (let copy = 0; copy < this.#copies; copy++) {
      this.#underWay.push(frame);
      queueMicrotask(() => this.#land());
    }
  }

  #land(): void {
    const frame = this.#underWay.shift();
    if (frame === undefined) return;
    for (const listener of this.#onFrame) listener(frame);
  }
}
