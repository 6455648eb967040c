import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepPurged } from '../../src/service/purger.ts';
import type { PurgeLimits, Store } from '../../src/store/store.ts';
import { FakeTime } from '../fake-time.ts';
import { StoreFolder } from '../store/store-fixture.ts';

const HOUR_US = 3_600_000_000;

let folder: StoreFolder;
let store: Store;
beforeEach(async () => {
  folder = new StoreFolder();
  store = await folder.open();
});
afterEach(() => folder.dispose());

function watched(inner: Store, fail = false): { store: Store; calls: PurgeLimits[] } {
  const calls: PurgeLimits[] = [];
  const purge = (limits: PurgeLimits) => {
    calls.push(limits);
    return fail ? Promise.reject(new Error('full')) : Promise.resolve(3);
  };
  return { store: Object.assign(Object.create(inner) as Store, { purge }), calls };
}

it('purges at the start and each hour, until it is stopped', () => {
  const time = new FakeTime();
  time.advance(1_000 * HOUR_US);
  const { store: own, calls } = watched(store);
  const logger = { info: () => undefined, warn: () => undefined };
  const stop = keepPurged({ store: own, time, logger, retentionMs: 3_600_000 });
  expect(calls).toEqual([{ runsEndedBeforeMs: 999 * 3_600_000, keysBeforeMs: 976 * 3_600_000 }]);
  time.advance(HOUR_US);
  expect(calls).toHaveLength(2);
  stop();
  time.advance(HOUR_US);
  expect(calls).toHaveLength(2);
  expect(time.armed).toBe(0);
});

it('keeps runs for ever where that is asked for, and says what it deletes', async () => {
  const time = new FakeTime();
  const { store: own, calls } = watched(store);
  const lines: string[] = [];
  const logger = { info: (line: string) => lines.push(line), warn: () => undefined };
  keepPurged({ store: own, time, logger, retentionMs: null });
  await expect.poll(() => lines).toHaveLength(1);
  expect(calls[0]?.runsEndedBeforeMs).toBeNull();
  expect(lines[0]).toContain('3 runs');
});

it('outlives a store that fails', async () => {
  const time = new FakeTime();
  const { store: own, calls } = watched(store, true);
  const lines: string[] = [];
  const logger = { info: () => undefined, warn: (line: string) => lines.push(line) };
  keepPurged({ store: own, time, logger, retentionMs: 1 });
  await expect.poll(() => lines).toHaveLength(1);
  time.advance(HOUR_US);
  expect(calls).toHaveLength(2);
});
