import type { BusReceiver, BusRun, ReceivedFrame } from '@squall/core/bus';
import type { RedisAddress } from './address.ts';
import type { RedisLimits } from './limits.ts';
import { Reader } from './reader.ts';
import { AgentStream } from './stream.ts';
import { Tender } from './tender.ts';

export interface RunReceiverOptions {
  readonly address: RedisAddress;
  readonly limits: RedisLimits;
  readonly run: BusRun;
  /** The server process that the run begins on. */
  readonly runId: string | null;
  /** Called once, when the run is over for the bus. */
  closed(): void;
}

/** The Redis bus, the controller's side, of one run. */
export class RedisRunReceiver implements BusReceiver {
  readonly #options: RunReceiverOptions;
  readonly #streams: ReadonlyMap<string, AgentStream>;
  readonly #tender: Tender;
  readonly #listeners = new Set<(frame: ReceivedFrame) => void>();
  /** Null until somebody listens: what is read before would be lost. */
  #reader: Reader | null = null;

  constructor(options: RunReceiverOptions) {
    const { address, limits, run, runId } = options;
    this.#options = options;
    this.#streams = new Map(
      run.agents.map((agent) => [agent.agent, new AgentStream(run.run, agent)]),
    );
    this.#tender = new Tender({
      address,
      limits,
      runId,
      streams: this.#streams,
      notice: (notice) => run.notice(notice),
      ask: ({ agent, row }) => run.link.resend(agent, row.epoch),
    });
  }

  onFrame(listener: (frame: ReceivedFrame) => void): void {
    this.#listeners.add(listener);
    const { address, limits, run } = this.#options;
    this.#reader ??= new Reader({
      address,
      limits,
      streams: this.#streams,
      notice: (notice) => run.notice(notice),
      frame: (agent, bytes) => {
        for (const each of this.#listeners) each({ agent, bytes });
      },
    });
  }

  /** Trimmed is what the agent knows of: else it would look for its entries and call them lost. */
  acknowledge(agent: string, epoch: number, seq: number): Promise<void> {
    const told = this.#options.run.link.acknowledge(agent, epoch, seq);
    if (told) this.#streams.get(agent)?.cover(epoch, seq);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.#tender.clear();
  }

  /** The run goes on without this process. */
  async leave(): Promise<void> {
    await this.#stop();
    this.#tender.hangUp();
  }

  async #stop(): Promise<void> {
    this.#listeners.clear();
    await Promise.all([this.#reader?.close(), this.#tender.stop()]);
    this.#options.closed();
  }
}
