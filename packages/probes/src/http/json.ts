import type { HttpProbeSource } from '@squall/core/plan';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';
import { parseJson } from './json-value.ts';
import { pageOf, pageText } from './page.ts';

/** Chosen numbers of any JSON answer. */
export class HttpProbe implements Probe {
  readonly #page: ReturnType<typeof pageOf>;
  readonly #source: HttpProbeSource;

  constructor(source: HttpProbeSource) {
    this.#source = source;
    this.#page = pageOf(source.url, { accept: 'application/json', ...source.headers });
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const answer = parseJson(await pageText({ ...this.#page, signal }));
    const figures = new Map<string, Figure>();
    for (const [name, pointer] of Object.entries(this.#source.values)) {
      const kind = this.#source.counters.includes(name) ? 'counter' : 'gauge';
      figures.set(name, { value: numberAt(answer, pointer), kind, unit: null });
    }
    return figures;
  }

  async close(): Promise<void> {}
}

/** [RFC 6901] */
function numberAt(root: unknown, pointer: string): number {
  let at = root;
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) {
      throw new ProbeError('no such value', `the answer has nothing at ${pointer}`);
    }
    at = Reflect.get(at, key);
  }
  // Some APIs write large numbers as text.
  const value = typeof at === 'string' && at.trim() !== '' ? Number(at) : at;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new ProbeError('not a number', `at ${pointer}`);
}
