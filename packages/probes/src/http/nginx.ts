import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';
import { pageOf, pageText } from './page.ts';

const PAGE =
  /^Active connections: (\d+)\s+server accepts handled requests\s+(\d+) (\d+) (\d+)\s+Reading: (\d+) Writing: (\d+) Waiting: (\d+)/;

const UNREACHED: ReadonlySet<string> = new Set([
  'connection refused',
  'no such host',
  'host unreachable',
]);

/**
 * The page of Nginx's `stub_status`. Its own readings, each a request (and an open connection that
 * writes), are taken out of what it says.
 */
export class NginxProbe implements Probe {
  readonly #page: ReturnType<typeof pageOf>;
  #readings = 0;

  constructor(url: string) {
    this.#page = pageOf(url);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const text = await this.#text(signal);
    const found = PAGE.exec(text);
    if (found === null) throw new ProbeError('not a page of stub_status');
    const [
      active = 0,
      accepted = 0,
      handled = 0,
      requests = 0,
      reading = 0,
      writing = 0,
      waiting = 0,
    ] = found.slice(1).map(Number);
    return new Map([
      ['requests', counter(requests - this.#readings)],
      ['accepted', counter(accepted)],
      ['handled', counter(handled)],
      ['active', gauge(active - 1)],
      ['reading', gauge(reading)],
      ['writing', gauge(writing - 1)],
      ['waiting', gauge(waiting)],
    ]);
  }

  async close(): Promise<void> {}

  /** The server counts a request whether its answer arrives or not, but none that never reached it. */
  async #text(signal: AbortSignal): Promise<string> {
    this.#readings += 1;
    try {
      return await pageText({ ...this.#page, signal });
    } catch (error) {
      if (error instanceof ProbeError && UNREACHED.has(error.reason)) this.#readings -= 1;
      throw error;
    }
  }
}

const counter = (value: number): Figure => ({ value, kind: 'counter', unit: 'count' });
const gauge = (value: number): Figure => ({
  value: Math.max(0, value),
  kind: 'gauge',
  unit: 'count',
});
