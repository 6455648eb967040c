import { Histogram, highestUsOf, type RunAggregate, type SeriesTotal } from '../metrics/index.ts';
import type { Plan } from '../plan/plan.ts';
import { subjectGroups } from './figures.ts';
import type { Report } from './model.ts';

/** Buckets of all histograms of a report together: about a megabyte of JSON. */
const MAX_REPORT_BUCKETS = 60_000;
/** Buckets of the layout that become one at most, as a power of two: 2^10 is half a power of two wide. */
const MAX_COARSENING = 10;
/** Buckets a power of two is cut into, at full precision. */
const BUCKETS_AN_OCTAVE = 1_024;

interface HistogramOptions {
  readonly plan: Plan;
  readonly maxBuckets?: number;
}

type Drawn = Report['histograms'][number];

/**
 * How all times are spread: a histogram for each group, stage and metric, from the merged buckets. A
 * report that would grow too large by them has wider buckets, and says how wide they are.
 */
export function histogramsOf(
  aggregate: Pick<RunAggregate, 'series'> | null,
  { plan, maxBuckets = MAX_REPORT_BUCKETS }: HistogramOptions,
): Drawn[] {
  const merged = aggregate === null ? [] : mergedBy(aggregate.series(), plan);
  for (let coarsening = 0; ; coarsening++) {
    const drawn = merged.map((one) => draw(one, coarsening));
    const buckets = drawn.reduce((sum, { counts }) => sum + counts.length, 0);
    if (buckets <= maxBuckets || coarsening === MAX_COARSENING) return drawn;
  }
}

interface Merged {
  readonly group: string;
  readonly stage: string;
  readonly metric: string;
  readonly histogram: Histogram;
}

function mergedBy(totals: Iterable<SeriesTotal>, plan: Plan): Merged[] {
  const groupOf = subjectGroups(plan);
  const merged = new Map<string, Merged>();
  for (const { key, histogram } of totals) {
    if (histogram === null || histogram.count === 0) continue;
    const group = groupOf(key.subject);
    const id = `${group}\n${key.stage}\n${key.metric}`;
    const stage = plan.stages[key.stage]?.name ?? `stage ${key.stage}`;
    const known = merged.get(id) ?? {
      group,
      stage,
      metric: key.metric,
      histogram: new Histogram(),
    };
    known.histogram.add(histogram);
    merged.set(id, known);
  }
  return [...merged.values()];
}

function draw({ histogram, ...labels }: Merged, coarsening: number): Drawn {
  const { maxUs, minUs } = histogram;
  const { buckets } = histogram.toSparse() ?? { buckets: [] };
  const upToUs: number[] = [];
  const counts: number[] = [];
  let last = -1;
  for (let place = 0; place + 1 < buckets.length; place += 2) {
    const wide = (buckets[place] ?? 0) >>> coarsening;
    const count = buckets[place + 1] ?? 0;
    if (wide === last) {
      counts.push((counts.pop() ?? 0) + count);
    } else {
      upToUs.push(Math.min(maxUs, highestUsOf(((wide + 1) << coarsening) - 1)));
      counts.push(count);
      last = wide;
    }
  }
  const width = 2 ** coarsening / BUCKETS_AN_OCTAVE;
  return { ...labels, minUs, width, upToUs, counts };
}
