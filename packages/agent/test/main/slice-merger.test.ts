import type { Slice } from '@squall/core/metrics';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SliceMerger } from '../../src/main/slice-merger.ts';

let working: number[];
let emitted: Slice[];
let merger: SliceMerger;

beforeEach(() => {
  vi.useFakeTimers();
  working = [0, 1];
  emitted = [];
  merger = new SliceMerger({
    limits: { sliceWaitUs: 1_000_000, openSlices: 4 },
    working: () => working,
    emit: (merged) => emitted.push(merged),
  });
});

afterEach(() => {
  merger.close();
  vi.useRealTimers();
});

describe('merging the slices of workers', () => {
  it('makes one of equal ones, as soon as the last worker has delivered', () => {
    merger.add(0, slice(0, 2));
    expect(emitted).toEqual([]);
    merger.add(1, slice(0, 3));
    expect(emitted.map(sent)).toEqual([5]);
  });

  it('keeps different seconds apart', () => {
    merger.add(0, slice(0, 1));
    merger.add(0, slice(1, 2));
    merger.add(1, slice(0, 10));
    merger.add(1, slice(1, 20));
    expect(emitted.map(({ n }) => n)).toEqual([0, 1]);
    expect(emitted.map(sent)).toEqual([11, 22]);
  });

  it('waits no more for a worker that is gone', () => {
    merger.add(0, slice(0, 2));
    working = [0];
    merger.review();
    expect(emitted.map(sent)).toEqual([2]);
  });

  it('goes on without a late worker, and sends what comes later by itself and at once', () => {
    merger.add(0, slice(0, 2));
    vi.advanceTimersByTime(1_100);
    expect(emitted.map(sent)).toEqual([2]);
    merger.add(1, slice(0, 3));
    expect(emitted.map(sent)).toEqual([2, 3]);
    merger.add(0, slice(1, 4));
    expect(emitted).toHaveLength(2);
  });

  it('holds no more than its bound', () => {
    for (let n = 0; n < 6; n++) merger.add(0, slice(n, 1));
    expect(emitted.map(({ n }) => n)).toEqual([0, 1]);
  });

  it('sends everything when no more will come', () => {
    merger.add(0, slice(7, 1));
    merger.add(1, slice(8, 2));
    merger.flush();
    expect(emitted.map(sent)).toEqual([1, 2]);
    vi.advanceTimersByTime(10_000);
    expect(emitted).toHaveLength(2);
  });
});

function slice(n: number, value: number): Slice {
  return {
    stage: 0,
    phase: 'main',
    n,
    span: 1,
    fromUs: n * 1_000_000,
    toUs: (n + 1) * 1_000_000,
    series: [{ metric: 'sent', subject: 'g', stage: 0, value }],
    examples: [],
  };
}

function sent({ series }: Slice): number | undefined {
  return series[0]?.value;
}
