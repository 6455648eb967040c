import { Histogram } from '@squall/core/metrics';
import { REPORT_FORMATS } from '@squall/report';
import { decodeFromCompressedBase64, HistogramLogReader } from 'hdr-histogram-js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reportOf } from './report-of.ts';

function spreadOf(timesUs: readonly number[], metric = 'publish_time') {
  const histogram = new Histogram();
  for (const us of timesUs) histogram.record(us);
  const pairs = [...new Set(timesUs)]
    .toSorted((a, b) => a - b)
    .map((us) => [us, timesUs.filter((one) => one === us).length] as const);
  return {
    drawn: {
      group: 'devices',
      stage: 'publish',
      metric,
      minUs: histogram.minUs,
      width: 1 / 1024,
      upToUs: pairs.map(([us]) => us),
      counts: pairs.map(([, count]) => count),
    },
    histogram,
  };
}

const draw = (histograms: ReturnType<typeof spreadOf>['drawn'][]) =>
  REPORT_FORMATS.hlog.draw(reportOf({ histograms }));

describe('the HdrHistogram log', () => {
  test('is read by the reader of HdrHistogram: tags, intervals, counts', () => {
    const { drawn, histogram } = spreadOf([1, 5, 5, 900, 40_000, 3_600_000_000]);
    const reader = new HistogramLogReader(draw([drawn, { ...drawn, metric: 'lateness' }]));
    const first = reader.nextIntervalHistogram();
    expect(first?.tag).toBe('devices.publish_time');
    expect(first?.totalCount).toBe(6);
    expect(first?.maxValue).toBeGreaterThanOrEqual(3_600_000_000);
    expect(first?.getValueAtPercentile(50)).toBe(histogram.percentileUs(50));
    expect(first?.startTimeStampMsec).toBe(Date.parse('2026-12-01T12:00:00.000Z'));
    expect(first?.endTimeStampMsec).toBe(Date.parse('2026-12-01T12:00:04.000Z'));
    expect(reader.nextIntervalHistogram()?.tag).toBe('devices.lateness');
    expect(reader.nextIntervalHistogram()).toBeNull();
  });

  test('keeps every count, whatever the times are', () => {
    const times = fc.array(fc.integer({ min: 0, max: 3_600_000_000 }), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(times, (list) => {
        const payload =
          draw([spreadOf(list).drawn])
            .trimEnd()
            .split('\n')
            .at(-1)
            ?.split(',')
            .at(-1) ?? '';
        const decoded = decodeFromCompressedBase64(payload, 64);
        expect(decoded.totalCount).toBe(list.length);
        const sorted = list.toSorted((a, b) => a - b);
        for (const [at, us] of sorted.entries()) {
          const told = decoded.getValueAtPercentile(((at + 1) / list.length) * 100);
          expect(Math.abs(told - us)).toBeLessThanOrEqual(Math.max(1, us / 1000));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('holds counts beyond 32 bits', () => {
    const { drawn } = spreadOf([7]);
    const payload =
      draw([{ ...drawn, counts: [2 ** 45 + 1] }])
        .trimEnd()
        .split(',')
        .at(-1) ?? '';
    expect(decodeFromCompressedBase64(payload, 64).totalCount).toBe(2 ** 45 + 1);
  });

  test('of a run without times has its head and no interval', () => {
    const reader = new HistogramLogReader(draw([]));
    expect(reader.nextIntervalHistogram()).toBeNull();
  });
});
