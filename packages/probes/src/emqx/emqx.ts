import type { EmqxProbeSource } from '@squall/core/plan';
import type { Probe, Reading } from '../probe.ts';
import { EmqxApi } from './api.ts';
import { ClusterCounters, ClusterTally } from './tally.ts';
import { read4 } from './version4.ts';
import { read5 } from './version5.ts';

/** The management API of EMQX 4.x, 5.x and 6.x: all nodes of the cluster, all rules and sinks or some. */
export class EmqxProbe implements Probe {
  readonly #api: EmqxApi;
  readonly #source: EmqxProbeSource;
  readonly #counters = new ClusterCounters();

  constructor(source: EmqxProbeSource) {
    this.#api = new EmqxApi(source.url);
    this.#source = source;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const tally = new ClusterTally();
    const version = await this.#api.version(signal);
    const read = version === 4 ? read4 : read5;
    await read(this.#api, this.#source, { tally, signal });
    return this.#counters.reading(tally);
  }

  async close(): Promise<void> {}
}
