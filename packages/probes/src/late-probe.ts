import type { Probe, Reading } from './probe.ts';

/**
 * A probe whose client library is loaded with its first reading: a run that reads no database should not
 * begin later for the sake of one that does.
 */
export class LateProbe implements Probe {
  readonly #load: () => Promise<Probe>;
  #probe: Promise<Probe> | null = null;

  constructor(load: () => Promise<Probe>) {
    this.#load = load;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    this.#probe ??= this.#load();
    return (await this.#probe).read(signal);
  }

  async close(): Promise<void> {
    await (await this.#probe)?.close();
  }
}
