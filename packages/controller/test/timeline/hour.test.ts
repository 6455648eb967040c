import { statSync } from 'node:fs';
import { METRICS, type MetricName, type SeriesDelta } from '@squall/core/metrics';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { decodeChunk } from '../../src/timeline/chunk.ts';
import { TimelineRecorder } from '../../src/timeline/recorder.ts';
import { windowOf } from '../../src/timeline/window.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreFolder } from '../store/store-fixture.ts';
import { SECOND, slice, times } from './slices.ts';

/** What an hour of twenty series may take at most. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_MS = 200;
/** The best of them counts: other tests may have the processor in one of them. */
const ATTEMPTS = 5;

let folder: StoreFolder;
beforeEach(() => {
  folder = new StoreFolder();
});
afterEach(() => folder.dispose());

it('an hour of twenty series has room in 20 MB and is answered in 200 ms', async () => {
  const store = await folder.open();
  const recorder = new TimelineRecorder();
  for (let s = 0; s < 3_600; s++) {
    recorder.add('a', slice(s, twentySeries(s)));
    if (s % 5 !== 4) continue;
    const changed = recorder.changed();
    await store.putTimeline('r1', changed.chunks);
    changed.kept();
  }
  expect(statSync(folder.file()).size + statSync(`${folder.file()}-wal`).size).toBeLessThan(
    MAX_BYTES,
  );
  const tookMs: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const startedAt = performance.now();
    const answer = JSON.stringify(await wholeHour(store));
    tookMs.push(performance.now() - startedAt);
    expect(answer.length).toBeGreaterThan(1_000_000);
  }
  expect(await wholeHour(store)).toHaveLength(20);
  expect(Math.min(...tookMs)).toBeLessThan(MAX_MS);
}, 60_000);

async function wholeHour(store: Store) {
  const chunks = await store.timeline('r1', 0, 60);
  return windowOf(new Map(chunks.map(({ index, bytes }) => [index, decodeChunk(bytes)])), {
    fromUs: 0,
    toUs: 3_600 * SECOND,
    stepUs: SECOND,
    metrics: [],
    subjects: [],
  });
}

function namesOf(kind: string): MetricName[] {
  return Object.entries(METRICS).flatMap(([name, info]) =>
    info.kind === kind ? [name as MetricName] : [],
  );
}

/** Half of them times, whose figures are the largest part; values that do not compress too well. */
function twentySeries(second: number): SeriesDelta[] {
  const noise = (seed: number) => Math.abs(Math.sin(second * 12.9898 + seed * 78.233)) * 43_758;
  const plain = [...namesOf('gauge'), ...namesOf('counter')].slice(0, 10);
  return [
    ...plain.map((metric, n) => ({ metric, subject: 'g', stage: 0, value: Math.floor(noise(n)) })),
    ...Array.from({ length: 10 }, (_, n) =>
      times(
        Array.from({ length: 50 }, (_value, m) => noise(n * 100 + m)),
        `g${n}`,
      ),
    ),
  ];
}
