import type { WebhookProbeSource } from '@squall/core/plan';
import { clockDomainHash } from '@squall/core/stamp';
import { type JsonMap, mapOf, parseJson } from '../http/json-value.ts';
import { pageOf, pageText } from '../http/page.ts';
import { type Probe, ProbeError, type Reading } from '../probe.ts';
import { CLOCKS_HEADER, clocksHeader, type HookClock, hookClockOf } from './clock-header.ts';
import { hookFigures } from './figures.ts';
import type { SeenClock } from './hook-clocks.ts';
import { monotonicUs } from './monotonic.ts';
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

/** How a hook's clock relates to ours: µs there = µs here + offset, off by at most the bound. */
interface Relation {
  readonly offsetUs: number;
  readonly boundUs: number;
}

class HookPage implements Probe {
  readonly #page: ReturnType<typeof pageOf>;
  readonly #scene: HookScene;
  #relation: Relation | null = null;

  constructor(address: string, scene: HookScene) {
    const url = new URL(address);
    if (url.pathname === '/') url.pathname = '/stats';
    url.searchParams.set('run', scene.run);
    this.#page = pageOf(url.href);
    this.#scene = scene;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const isFirst = this.#relation === null;
    const answer = await this.#ask(signal);
    // Before the first message comes the hook has to know the clocks that it is timed by.
    if (isFirst && this.#relation !== null) await this.#ask(signal);
    return hookFigures(statsOf(answer));
  }

  async close(): Promise<void> {}

  async #ask(signal: AbortSignal): Promise<JsonMap> {
    const headers = { ...this.#page.headers, ...this.#told() };
    const sentUs = monotonicUs();
    const text = await pageText({ ...this.#page, headers, signal });
    const receivedUs = monotonicUs();
    const answer = mapOf(parseJson(text), 'the answer');
    const clock = hookClockOf(answer['clock']);
    this.#relation = clock === null ? null : this.#relate(clock, { sentUs, receivedUs });
    return answer;
  }

  #relate(
    { domain, nowUs }: HookClock,
    { sentUs, receivedUs }: { readonly sentUs: number; readonly receivedUs: number },
  ): Relation {
    if (domain === clockDomainHash(this.#scene.clockDomain)) return { offsetUs: 0, boundUs: 0 };
    const boundUs = (receivedUs - sentUs) / 2;
    return { offsetUs: nowUs - (sentUs + boundUs), boundUs };
  }

  /** The publishers' clocks as the hook sees them. */
  #told(): Record<string, string> {
    const relation = this.#relation;
    if (relation === null) return {};
    const clocks = this.#scene.clocks().map(({ domain, offsetUs, boundUs }) => ({
      domain,
      offsetUs: offsetUs + relation.offsetUs,
      boundUs: boundUs + relation.boundUs,
    }));
    return clocks.length === 0 ? {} : { [CLOCKS_HEADER]: clocksHeader(clocks) };
  }
}
