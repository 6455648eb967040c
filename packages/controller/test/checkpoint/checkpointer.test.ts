import type { BusReceiver } from '@squall/core/bus';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Acknowledger } from '../../src/run/acknowledger.ts';
import { Checkpointer } from '../../src/run/checkpoint/checkpointer.ts';
import { FakeTime } from '../fake-time.ts';
import { savedRunOf } from './saved-runs.ts';

const SECOND = 1_000_000;

/** A checkpointer over a store that answers when it is told to. */
class Bench {
  readonly time = new FakeTime();
  readonly warnings: string[] = [];
  readonly acknowledged: number[] = [];
  /** Writes that were not answered yet. */
  readonly pending: { resolve: () => void; reject: (error: Error) => void }[] = [];
  begun = 0;
  taken = 0;
  readonly checkpointer: Checkpointer;

  constructor() {
    const bus: BusReceiver = {
      onFrame: () => undefined,
      acknowledge: (_agent, _epoch, seq) => {
        this.acknowledged.push(seq);
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    this.checkpointer = new Checkpointer({
      time: this.time,
      intervalUs: () => 3 * SECOND,
      acknowledger: new Acknowledger(bus, 'saved'),
      store: {
        saveCheckpoint: () => {
          this.begun++;
          return new Promise((resolve, reject) => this.pending.push({ resolve, reject }));
        },
      },
      take: () => {
        const positions = [{ agent: 'a', epoch: 1, seq: ++this.taken }];
        const ledger = { pages: [], kept: () => undefined };
        return { saved: savedRunOf('run'), positions, ledger };
      },
      warning: (text) => this.warnings.push(text),
    });
  }

  /** Lets time pass, and see what is due. What must not happen has a moment to happen. */
  async pass(us: number): Promise<void> {
    await delay(5);
    this.time.advance(us);
    await delay(20);
    this.time.advance(0);
    await delay(20);
  }

  /** Encoding happens beside the event loop, in real time. */
  async written(count: number): Promise<void> {
    await vi.waitFor(
      () => {
        this.time.advance(0);
        if (this.begun !== count) throw new Error(`${this.begun} were written, not ${count}`);
      },
      { timeout: 4_000, interval: 5 },
    );
  }

  async answer(error?: Error): Promise<void> {
    const write = this.pending.shift();
    if (error === undefined) write?.resolve();
    else write?.reject(error);
    await this.pass(0);
  }
}

describe('checkpoints', () => {
  it('are written at once and then every few seconds, and acknowledge what is in them', async () => {
    const bench = new Bench();
    await bench.written(1);
    expect(bench.acknowledged).toEqual([]);
    await bench.answer();
    expect(bench.acknowledged).toEqual([1]);
    await bench.pass(2 * SECOND);
    expect(bench.begun).toBe(1);
    await bench.pass(SECOND);
    await bench.written(2);
    await bench.answer();
    expect(bench.acknowledged).toEqual([1, 2]);
  });

  it('are written one at a time, however many are asked for', async () => {
    const bench = new Bench();
    await bench.written(1);
    const saved = [1, 2, 3].map(() => bench.checkpointer.save());
    await bench.pass(0);
    expect(bench.begun).toBe(1);
    await bench.answer();
    // One for all that was asked for meanwhile, taken after it was asked for.
    await bench.written(2);
    expect(bench.taken).toBe(2);
    await bench.answer();
    await Promise.all(saved);
    expect(bench.begun).toBe(2);
  });

  it('hold up an order for half a second at most; a store that stays silent is told of', async () => {
    const bench = new Bench();
    await bench.written(1);
    let ordered = false;
    void bench.checkpointer.save().finally(() => {
      ordered = true;
    });
    await bench.pass(400_000);
    expect(ordered).toBe(false);
    await bench.pass(100_000);
    expect(ordered).toBe(true);
    expect(bench.warnings).toEqual([]);
    await bench.pass(5 * SECOND);
    expect(bench.warnings.join()).toContain('the store has not answered for 5s');
    expect(bench.begun).toBe(1);
    await bench.answer();
    expect(bench.warnings.at(-1)).toBe('checkpoints can be saved again');
  });

  it('that fail are told of once, and tried again', async () => {
    const bench = new Bench();
    for (let failure = 1; failure <= 3; failure++) {
      await bench.written(failure);
      await bench.answer(new Error('the store has no room left'));
      await bench.pass(3 * SECOND);
    }
    expect(bench.acknowledged).toEqual([]);
    expect(bench.warnings).toHaveLength(1);
    await bench.written(4);
    await bench.answer();
    expect(bench.acknowledged).toEqual([4]);
  });

  it('end with a last one, after which nothing is armed any more', async () => {
    const bench = new Bench();
    await bench.written(1);
    await bench.answer();
    const ended = bench.checkpointer.end();
    await bench.written(2);
    await bench.answer();
    await ended;
    expect(bench.time.armed).toBe(0);
    await bench.pass(10 * SECOND);
    expect(bench.begun).toBe(2);
  });
});
