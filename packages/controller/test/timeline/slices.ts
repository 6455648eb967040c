import { Histogram, type SeriesDelta, type Slice } from '@squall/core/metrics';

export const SECOND = 1_000_000;

export function slice(fromS: number, series: readonly SeriesDelta[], lengthS = 1): Slice {
  return {
    stage: 0,
    phase: 'main',
    n: Math.floor(fromS * 2),
    span: 1,
    fromUs: fromS * SECOND,
    toUs: (fromS + lengthS) * SECOND,
    series,
    examples: [],
  };
}

export function sent(value: number, subject = 'devices'): SeriesDelta {
  return { metric: 'sent', subject, stage: 0, value };
}

export function connections(value: number, subject = 'devices'): SeriesDelta {
  return { metric: 'connections', subject, stage: 0, value };
}

export function times(values: readonly number[], subject = 'devices'): SeriesDelta {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  const sparse = histogram.toSparse();
  const delta = { metric: 'publish_time', subject, stage: 0 } as const;
  return sparse === null ? delta : { ...delta, histogram: sparse };
}
