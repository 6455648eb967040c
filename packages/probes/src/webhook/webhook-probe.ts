import type { WebhookProbeSource } from '@squall/core/plan';
import { mapOf, parseJson } from '../http/json-value.ts';
import { pageOf, pageText } from '../http/page.ts';
import { type Probe, ProbeError, type Reading } from '../probe.ts';
import { hookFigures } from './figures.ts';
import type { SeenClock } from './hook-clocks.ts';
import { HookReceiver } from './receiver.ts';
import { statsOf } from './stats-of.ts';

/** The run that a webhook is read for. */
export interface HookScene {
  /** Its id. */
  readonly run: string;
  /** Clock of this process: boot id and time namespace. */
  readonly clockDomain: string;
  /** The clocks of the publishers' hosts as they are now, seen from this process. */
  clocks(): readonly SeenClock[];
}

/** What came to a webhook: one that listens here, or a `squall sink webhook` elsewhere. */
export function webhookProbe(source: WebhookProbeSource, scene: HookScene): Probe {
  return source.listen === null
    ? new HookPage(source.url, scene)
    : new OwnHook(source.listen, scene);
}

/** Listens from the first reading on, which is before the load. */
class OwnHook implements Probe {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #scene: HookScene;
  #receiver: HookReceiver | null = null;

  constructor(address: { readonly host: string; readonly port: number }, scene: HookScene) {
    this.#address = address;
    this.#scene = scene;
  }

  async read(): Promise<Reading> {
    const { clockDomain, run } = this.#scene;
    try {
      this.#receiver ??= await HookReceiver.open({ ...this.#address, clockDomain, run });
    } catch (error) {
      const detail = error instanceof Error ? error.message : undefined;
      throw new ProbeError('cannot listen', detail, error);
    }
    this.#receiver.see(this.#scene.clocks());
    return hookFigures(this.#receiver.stats(run));
  }

  async close(): Promise<void> {
    await this.#receiver?.close();
  }
}

class HookPage implements Probe {
  readonly #page: ReturnType<typeof pageOf>;

  constructor(address: string, { run }: HookScene) {
    const url = new URL(address);
    if (url.pathname === '/') url.pathname = '/stats';
    url.searchParams.set('run', run);
    this.#page = pageOf(url.href);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const answer = mapOf(parseJson(await pageText({ ...this.#page, signal })), 'the answer');
    return hookFigures(statsOf(answer));
  }

  async close(): Promise<void> {}
}
