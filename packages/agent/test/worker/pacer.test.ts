import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Pacer } from '../../src/worker/engine/pacer.ts';
import { LoopDelay } from '../../src/worker/measure/loop-delay.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The faked clock, µs. */
function readClock(cell: Float64Array): void {
  cell[0] = performance.now() * 1_000;
}

function pacerOf(nextUs: (nowUs: number) => number) {
  const moment = new Float64Array(1);
  const ticks: number[] = [];
  const delay = new LoopDelay();
  const paced = {
    tick: () => ticks.push((moment[0] ?? 0) / 1_000),
    nextUs: () => nextUs(moment[0] ?? 0),
  };
  return { pacer: new Pacer(paced, { moment, readClock }, delay), ticks, delay };
}

describe('pacer', () => {
  test('ticks once a millisecond while something is due soon', () => {
    const { pacer, ticks, delay } = pacerOf((nowUs) => nowUs + 500);
    pacer.wake();
    vi.advanceTimersByTime(100);
    expect(ticks.length).toBeGreaterThanOrEqual(99);
    expect(delay.takeP99Us()).toBeLessThanOrEqual(1_000);
  });

  test('sleeps to the next due moment, and a second at most', () => {
    const { pacer, ticks } = pacerOf((nowUs) => (nowUs < 600e3 ? 600e3 : Infinity));
    pacer.wake();
    vi.advanceTimersByTime(590);
    expect(ticks.length).toBeLessThanOrEqual(8);
    vi.advanceTimersByTime(20);
    expect(ticks.some((ms) => ms >= 599 && ms <= 601)).toBe(true);
    const before = ticks.length;
    vi.advanceTimersByTime(10_000);
    expect(ticks.length - before).toBeLessThanOrEqual(90);
  });

  test('wakes early when something happens, and not at all once stopped', () => {
    const { pacer, ticks } = pacerOf(() => Infinity);
    pacer.wake();
    vi.advanceTimersByTime(100);
    const asleep = ticks.length;
    pacer.wake();
    vi.advanceTimersByTime(2);
    expect(ticks.length).toBeGreaterThan(asleep);
    pacer.stop();
    const stopped = ticks.length;
    pacer.wake();
    vi.advanceTimersByTime(5_000);
    expect(ticks.length).toBe(stopped);
  });
});
