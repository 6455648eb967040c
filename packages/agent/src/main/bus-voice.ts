import type { FromAgent } from '@squall/core/control';
import { monotonicUs } from './monotonic.ts';
import type { AgentLogger } from './options.ts';

type BusState = Extract<FromAgent, { type: 'bus_state' }>;

export interface BusVoiceOptions {
  readonly run: string;
  readonly epoch: number;
  readonly logger: AgentLogger;
  send(state: BusState): void;
}

/**
 * Tells the controller how the agent's end of a bus fares that is not the link itself: when it stops
 * working, when it works again, what it lost. A state holds the totals of the run, so that any one of
 * them may get lost.
 */
export class BusVoice {
  readonly #options: BusVoiceOptions;
  #trouble: string | null = null;
  #sinceUs = 0;
  #interruptions = 0;
  #interruptedUs = 0;
  #lostFrames = 0;

  constructor(options: BusVoiceOptions) {
    this.#options = options;
  }

  /** A batch could not be sent. */
  failed(reason: string): void {
    if (this.#trouble !== null) return;
    this.#trouble = reason.slice(0, 1024);
    this.#sinceUs = monotonicUs();
    this.#interruptions++;
    this.#options.logger.warn(`measurements cannot be sent: ${reason}; the load goes on`);
    this.#say();
  }

  /** A batch was sent. */
  worked(): void {
    if (this.#trouble === null) return;
    this.#interruptedUs += monotonicUs() - this.#sinceUs;
    this.#trouble = null;
    this.#options.logger.info('measurements can be sent again');
    this.#say();
  }

  lost(frames: number): void {
    this.#lostFrames += frames;
    this.#options.logger.warn(`the bus has lost ${frames} frames that it had taken`);
    this.#say();
  }

  /** Once more on a new link, where there is something to tell. */
  repeat(): void {
    if (this.#interruptions > 0 || this.#lostFrames > 0) this.#say();
  }

  #say(): void {
    const { epoch, run } = this.#options;
    const underWayUs = this.#trouble === null ? 0 : monotonicUs() - this.#sinceUs;
    this.#options.send({
      type: 'bus_state',
      run,
      epoch,
      trouble: this.#trouble,
      interruptions: this.#interruptions,
      interruptedUs: this.#interruptedUs + underWayUs,
      lostFrames: this.#lostFrames,
    });
  }
}
