import { describe, expect, it } from 'vitest';
import { type ChunkData, decodeChunk, encodeChunk } from '../../src/timeline/chunk.ts';
import { TimelineRecorder } from '../../src/timeline/recorder.ts';
import {
  recordedSeconds,
  type WindowQuery,
  type WindowSeries,
  windowOf,
} from '../../src/timeline/window.ts';
import { connections, SECOND, sent, slice, times } from './slices.ts';

function query(fromS: number, toS: number, more: Partial<WindowQuery> = {}): WindowQuery {
  return {
    fromUs: fromS * SECOND,
    toUs: toS * SECOND,
    stepUs: SECOND,
    metrics: [],
    subjects: [],
    ...more,
  };
}

/** The chunks as they would come back from a store. */
function stored(recorder: TimelineRecorder): Map<number, ChunkData> {
  return new Map(recorder.changed().chunks.map(({ index, bytes }) => [index, decodeChunk(bytes)]));
}

function continued(before: TimelineRecorder): TimelineRecorder {
  return new TimelineRecorder(before.changed().chunks);
}

function curvesOf(chunks: ReadonlyMap<number, ChunkData>, asked: WindowQuery): string[] {
  return windowOf(chunks, asked).map(({ metric, subject }) => `${metric} ${subject}`);
}

function only(series: readonly WindowSeries[]): WindowSeries {
  const [one] = series;
  if (one === undefined || series.length > 1) throw new Error(`${series.length} series`);
  return one;
}

describe('what is recorded', () => {
  it('adds counters of all agents up, second by second', () => {
    const recorder = new TimelineRecorder();
    for (const agent of ['a', 'b']) {
      for (let s = 0; s < 3; s++) recorder.add(agent, slice(s, [sent(s + 1)]));
    }
    expect(only(windowOf(stored(recorder), query(0, 3)))).toEqual({
      kind: 'counter',
      metric: 'sent',
      subject: 'devices',
      count: [2, 4, 6],
      rate: [2, 4, 6],
    });
  });

  it('shares a slice between the seconds that it lies in', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(0.75, [sent(100)]));
    expect(only(windowOf(stored(recorder), query(0, 2)))).toMatchObject({ count: [25, 75] });
  });

  it('shares it across the border of a minute, too', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(59.5, [sent(10)]));
    expect([...stored(recorder).keys()]).toEqual([0, 1]);
    expect(only(windowOf(stored(recorder), query(58, 61)))).toMatchObject({ count: [0, 5, 5] });
  });

  it('sums gauges over agents, the last word of each in the second', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(0, [connections(5)], 0.5));
    recorder.add('a', slice(0.5, [connections(7)], 0.5));
    recorder.add('b', slice(0, [connections(10)]));
    expect(only(windowOf(stored(recorder), query(0, 2)))).toMatchObject({
      kind: 'gauge',
      value: [17, null],
    });
  });

  it('takes percentiles from the buckets of all agents', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(0, [times(Array<number>(90).fill(100))]));
    recorder.add('b', slice(0, [times(Array<number>(10).fill(1_000))]));
    expect(only(windowOf(stored(recorder), query(0, 1)))).toMatchObject({
      kind: 'time',
      count: [100],
      minUs: [100],
      meanUs: [190],
      p50Us: [100],
      p90Us: [100],
      p95Us: [1_000],
      maxUs: [1_000],
    });
  });

  it('stays exact however many agents report a second', () => {
    const recorder = new TimelineRecorder();
    for (let n = 1; n <= 100; n++) recorder.add(`a${n}`, slice(0, [times([n])]));
    expect(only(windowOf(stored(recorder), query(0, 1)))).toMatchObject({
      count: [100],
      p50Us: [50],
      p99Us: [99],
      maxUs: [100],
    });
  });

  it('counts what is too late or far too early, and leaves it out', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(150, [sent(1)]));
    recorder.add('a', slice(70, [sent(1)]));
    expect(recorder.late).toBe(0);
    recorder.add('a', slice(30, [sent(1)]));
    recorder.add('a', slice(1e9, [sent(1)]));
    expect(recorder.late).toBe(2);
    expect(recordedSeconds(stored(recorder))).toBe(151);
  });
});

describe('what changed', () => {
  it('is given until it was kept', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(0, [sent(1)]));
    expect(recorder.changed().chunks).toHaveLength(1);
    const changed = recorder.changed();
    expect(changed.chunks).toHaveLength(1);
    changed.kept();
    expect(recorder.changed().chunks).toEqual([]);
  });

  it('includes what came while the chunks were being written', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(0, [sent(1)]));
    const changed = recorder.changed();
    recorder.add('b', slice(0, [sent(2)]));
    changed.kept();
    expect(only(windowOf(stored(recorder), query(0, 1)))).toMatchObject({ count: [3] });
  });

  it('is forgotten when it is kept and can grow no more', () => {
    const recorder = new TimelineRecorder();
    for (let s = 0; s < 600; s++) recorder.add('a', slice(s, [sent(1)]));
    expect(recorder.held().size).toBe(10);
    recorder.changed().kept();
    expect([...recorder.held().keys()]).toEqual([8, 9]);
  });

  it('is bounded where no store takes it, and what is given up is counted', () => {
    const recorder = new TimelineRecorder();
    for (let minute = 0; minute < 200; minute++) recorder.add('a', slice(minute * 60, [sent(1)]));
    expect(recorder.held().size).toBe(120);
    expect(recorder.late).toBe(80);
  });
});

describe('a recorder that goes on with what another wrote down', () => {
  it('adds what is new and leaves out what comes again', () => {
    const first = new TimelineRecorder();
    for (let s = 0; s < 70; s++) first.add('a', slice(s, [sent(1), times([10])]));
    const second = continued(first);
    for (let s = 65; s < 75; s++) second.add('a', slice(s, [sent(1), times([10])]));
    second.add('b', slice(69, [sent(5), times([2_000])]));
    const [time, counter] = windowOf(second.held(), query(0, 75, { stepUs: 5 * SECOND }));
    const counts = counter?.kind === 'counter' ? counter.count : [];
    expect(counts).toEqual([...Array<number>(13).fill(5), 10, 5]);
    expect(time).toMatchObject({ kind: 'time' });
    expect(
      only(windowOf(second.held(), query(69, 70, { metrics: ['publish_time'] }))),
    ).toMatchObject({ count: [2], meanUs: [1_005], minUs: [10], p50Us: [2_000], maxUs: [2_000] });
  });

  it('keeps the fuller of two sums of a gauge', () => {
    const first = new TimelineRecorder();
    for (const agent of ['a', 'b']) first.add(agent, slice(0, [connections(5)]));
    const second = continued(first);
    second.add('a', slice(0.5, [connections(7)]));
    expect(only(windowOf(second.held(), query(0, 2)))).toMatchObject({ value: [10, 7] });
  });

  it('has nothing to write as long as nothing is new', () => {
    const first = new TimelineRecorder();
    first.add('a', slice(0, [sent(1)]));
    const second = continued(first);
    expect(second.changed().chunks).toEqual([]);
    second.add('a', slice(0, [sent(1)]));
    expect(second.changed().chunks).toEqual([]);
  });
});

describe('a window', () => {
  const recorder = new TimelineRecorder();
  for (let s = 0; s < 130; s++) {
    recorder.add('a', slice(s, [sent(s), sent(1, 'devices.beat'), sent(1, 'other')]));
    recorder.add('a', slice(s, [times([s * 10]), connections(s)]));
  }
  const chunks = stored(recorder);

  it('has the seconds asked for, whatever is stored', () => {
    const one = { metrics: ['sent'], subjects: ['other'] };
    expect(only(windowOf(chunks, query(58, 62, one)))).toMatchObject({ count: [1, 1, 1, 1] });
    expect(only(windowOf(chunks, query(128, 133, one)))).toMatchObject({
      count: [1, 1, null, null, null],
    });
    expect(only(windowOf(chunks, query(5, 5, one)))).toMatchObject({ count: [] });
  });

  it('has the curves asked for; a group stands for its streams, too', () => {
    expect(curvesOf(chunks, query(0, 1, { metrics: ['sent'] }))).toEqual([
      'sent devices',
      'sent devices.beat',
      'sent other',
    ]);
    expect(
      curvesOf(chunks, query(0, 1, { metrics: ['sent', 'connections'], subjects: ['devices'] })),
    ).toEqual(['connections devices', 'sent devices', 'sent devices.beat']);
    expect(curvesOf(chunks, query(0, 1, { subjects: ['dev'] }))).toEqual([]);
  });

  it('of longer steps has exact rates and means, the worst percentiles and the last gauges', () => {
    const more = { stepUs: 10 * SECOND, subjects: ['devices'] };
    const [gauge, time, counter] = windowOf(chunks, query(0, 25, more));
    expect(gauge).toMatchObject({ metric: 'connections', value: [9, 19, 24] });
    expect(time).toMatchObject({
      count: [10, 10, 5],
      minUs: [0, 100, 200],
      meanUs: [45, 145, 220],
      p50Us: [90, 190, 240],
      maxUs: [90, 190, 240],
    });
    expect(counter).toMatchObject({ count: [45, 145, 110], rate: [4.5, 14.5, 22] });
  });

  it('sums up to what was recorded, whatever the step', () => {
    for (const step of [1, 7, 60, 1_000]) {
      const more = { stepUs: step * SECOND, metrics: ['sent'], subjects: ['devices.beat'] };
      const curve = only(windowOf(chunks, query(0, 130, more)));
      const counts = curve.kind === 'counter' ? curve.count : [];
      expect(counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(130);
    }
  });
});

describe('a chunk', () => {
  it('comes back from its bytes as it was', () => {
    const recorder = new TimelineRecorder();
    recorder.add('a', slice(0, [sent(1), connections(2), times([3])]));
    const [data] = recorder.held().values();
    expect(data === undefined ? null : decodeChunk(encodeChunk(data))).toEqual(data);
  });

  it('is refused where its bytes are none', () => {
    expect(() => decodeChunk(new Uint8Array([1, 2, 3]))).toThrow('unexpected end');
  });
});
