import { describe, expect, test } from 'vitest';
import { type KeptProbe, type Probe, ProbeError, ProbeKeeper, type Reading } from '../src/index.ts';

const NOTHING: Reading = new Map();

/** Timers that fire when a test says so. */
class HandClock {
  nowUs = 0;
  readonly #due: { readonly atUs: number; readonly action: () => void }[] = [];

  after(delayUs: number, action: () => void): () => void {
    const timer = { atUs: this.nowUs + delayUs, action };
    this.#due.push(timer);
    return () => {
      const at = this.#due.indexOf(timer);
      if (at >= 0) this.#due.splice(at, 1);
    };
  }

  async pass(us: number): Promise<void> {
    const endUs = this.nowUs + us;
    await settled();
    for (;;) {
      const next = this.#due.toSorted((a, b) => a.atUs - b.atUs)[0];
      if (next === undefined || next.atUs > endUs) break;
      this.#due.splice(this.#due.indexOf(next), 1);
      this.nowUs = next.atUs;
      next.action();
      await settled();
    }
    this.nowUs = endUs;
    await settled();
  }
}

/** Everything that was ready to go on has gone on. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

function scene(probe: Partial<Probe>, kept: Partial<KeptProbe> = {}) {
  const clock = new HandClock();
  const told: string[] = [];
  const keeper = new ProbeKeeper({
    probes: [
      {
        name: 'p',
        probe: { read: () => Promise.resolve(NOTHING), close: () => Promise.resolve(), ...probe },
        intervalUs: 5e6,
        timeoutUs: 2e6,
        ...kept,
      },
    ],
    time: clock,
    listener: {
      reading: (name) => told.push(`${name} read`),
      failed: (name, reason) => told.push(`${name} ${reason}`),
      skipped: (name) => told.push(`${name} skipped`),
    },
  });
  return { clock, keeper, told };
}

describe('the keeper of probes', () => {
  test('reads before the load, then at the interval of each, and no more once it is closed', async () => {
    const { clock, keeper, told } = scene({});
    await keeper.first();
    keeper.begin();
    await clock.pass(14e6);
    expect(told).toEqual(['p read', 'p read', 'p read']);
    await keeper.close();
    await clock.pass(60e6);
    expect(told).toHaveLength(3);
  });

  test('without an interval it is read when it is asked for only', async () => {
    const { clock, keeper, told } = scene({}, { intervalUs: null });
    keeper.begin();
    await clock.pass(60e6);
    expect(told).toEqual([]);
    await keeper.fresh();
    expect(told).toEqual(['p read']);
  });

  test('the reading before the load is tried again, and given up after three', async () => {
    let tries = 0;
    const read = () => {
      tries += 1;
      return Promise.reject(new ProbeError('HTTP 503'));
    };
    const { clock, keeper, told } = scene({ read });
    const first = keeper.first();
    await clock.pass(10e6);
    await first;
    expect(tries).toBe(3);
    expect(told).toEqual(['p HTTP 503', 'p HTTP 503', 'p HTTP 503']);
  });

  test('a reading that takes too long is called off, counted, and does not hold up the next', async () => {
    const signals: AbortSignal[] = [];
    const read = (signal: AbortSignal) =>
      new Promise<Reading>((_resolve, reject) => {
        signals.push(signal);
        signal.addEventListener('abort', () => reject(new Error('let go')));
      });
    const { clock, keeper, told } = scene({ read });
    keeper.begin();
    await clock.pass(12.5e6);
    expect(told).toEqual(['p timed out', 'p timed out']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test('one that does not even let go is left behind, and what it would have been asked is counted', async () => {
    const { clock, keeper, told } = scene(
      { read: () => new Promise(() => undefined) },
      { intervalUs: 1e6, timeoutUs: 2e6 },
    );
    keeper.begin();
    await clock.pass(5.5e6);
    // Read at 1 s, called off at 3 s, left behind at 5 s.
    expect(told).toEqual(['p skipped', 'p skipped', 'p skipped', 'p timed out']);
  });

  test('what is under way when it closes is called off, and no failure of the server', async () => {
    let signal: AbortSignal | null = null;
    let closed = false;
    const { clock, keeper, told } = scene({
      read: (given) => {
        signal = given;
        return new Promise((_resolve, reject) => {
          given.addEventListener('abort', () => reject(new Error('let go')));
        });
      },
      close: () => {
        closed = true;
        return Promise.resolve();
      },
    });
    keeper.begin();
    await clock.pass(5.5e6);
    await keeper.close();
    expect(signal).toMatchObject({ aborted: true });
    expect(closed).toBe(true);
    expect(told).toEqual([]);
  });
});
