import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Gate } from '../../src/clean/gate.ts';

it('lets each item pass once, so many a second, so many at a time', async () => {
  const gate = new Gate(400);
  const seen: number[] = [];
  let inside = 0;
  let most = 0;
  const startedMs = performance.now();
  await gate.each(Array(120).keys(), 5, async (item, place) => {
    expect(place).toBeLessThan(5);
    inside++;
    most = Math.max(most, inside);
    await delay(1);
    seen.push(item);
    inside--;
  });
  const tookMs = performance.now() - startedMs;
  expect(seen.toSorted((a, b) => a - b)).toEqual([...Array(120).keys()]);
  expect(most).toBeLessThanOrEqual(5);
  // 120 at 400/s; never faster, however slow this machine is.
  expect(tookMs).toBeGreaterThan(250);
});

it('is done at once with nothing to do', async () => {
  const done = new Gate(1).each([], 10, () => Promise.reject(new Error('never called')));
  await expect(done).resolves.toBeUndefined();
});

it('lets nobody pass any more once it is shut', async () => {
  const shutter = new AbortController();
  const gate = new Gate(1_000, shutter.signal);
  let passed = 0;
  await gate.each(Array(1_000).keys(), 3, () => {
    if (++passed === 10) shutter.abort();
    return Promise.resolve();
  });
  expect(passed).toBe(10);
});
