import type { FromAgent } from '@squall/core/control';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClockKeeper } from '../../src/main/clock-keeper.ts';
import { LIMITS } from '../../src/main/limits.ts';
import { monotonicUs } from '../../src/main/monotonic.ts';

const OFFSET_US = 1_000_000_000;

let sent: FromAgent[];
let keeper: ClockKeeper;
let answering: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  answering = true;
  keeper = new ClockKeeper({ isUp: true, send }, LIMITS);
});

afterEach(() => {
  keeper.close();
  vi.useRealTimers();
});

describe('keeping the clock', () => {
  it('sends a burst on a new link, and reports when all of it is answered', async () => {
    keeper.linkUp();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(count('clock_probe')).toBe(40);
    expect(count('clock_report')).toBe(1);
    expect(Math.abs((keeper.estimate()?.offsetUs ?? 0) - OFFSET_US)).toBeLessThan(10_000);
  });

  it('costs one probe every five seconds without a run, and two a second in one', async () => {
    keeper.linkUp();
    await vi.advanceTimersByTimeAsync(1_000);
    sent.length = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(count('clock_probe')).toBe(12);
    sent.length = 0;
    keeper.setInRun(true);
    await vi.advanceTimersByTimeAsync(10_100);
    expect(count('clock_probe')).toBe(20);
    expect(count('clock_report')).toBe(10);
  });

  it('is synchronised by a fresh burst', async () => {
    const synchronised = keeper.synchronise(10_000_000);
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(synchronised).resolves.toBe(true);
  });

  it('is not synchronised when nobody answers until the deadline', async () => {
    answering = false;
    const synchronised = keeper.synchronise(2_000_000);
    await vi.advanceTimersByTimeAsync(2_100);
    await expect(synchronised).resolves.toBe(false);
  });

  it('is quiet without a link', async () => {
    keeper.linkUp();
    await vi.advanceTimersByTimeAsync(1_000);
    keeper.linkDown();
    sent.length = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toEqual([]);
  });
});

/** The controller: answers at once, on a clock of its own. */
function send(message: FromAgent): boolean {
  sent.push(message);
  if (message.type !== 'clock_probe' || !answering) return true;
  const { agentSentUs } = message;
  const controllerUs = monotonicUs() + OFFSET_US;
  queueMicrotask(() =>
    keeper.answered(
      {
        type: 'clock_answer',
        agentSentUs,
        controllerReceivedUs: controllerUs,
        controllerSentUs: controllerUs,
      },
      monotonicUs(),
    ),
  );
  return true;
}

function count(type: FromAgent['type']): number {
  return sent.filter((message) => message.type === type).length;
}
