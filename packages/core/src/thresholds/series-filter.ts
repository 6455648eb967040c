import type { MetricName, SeriesKey } from '../metrics/index.ts';
import type { Doings } from './relevance.ts';
import { matchesTag } from './tag.ts';
import type { ParsedThreshold, TagFilter } from './threshold.ts';

/** What the plan knows of a subject (`devices` or `devices.telemetry`). */
interface Subject {
  readonly group: string;
  /** Names that `stream` may call it by; empty for a group itself. */
  readonly streams: readonly string[];
  readonly qos: number | null;
}

/** Which series a threshold speaks of. */
export class SeriesFilter {
  readonly #metric: MetricName;
  readonly #tags: readonly TagFilter[];
  readonly #subjects: ReadonlyMap<string, Subject>;
  readonly #stages: readonly string[];
  /** Tags are compared once for each different series. */
  readonly #known = new Map<string, boolean>();

  constructor(metric: MetricName, tags: readonly TagFilter[], plan: Doings) {
    this.#metric = metric;
    this.#tags = tags;
    this.#subjects = subjectsOf(plan);
    this.#stages = plan.stages.map((stage) => stage.name);
  }

  matches(series: SeriesKey): boolean {
    if (series.metric !== this.#metric) return false;
    if (this.#tags.length === 0) return true;
    const { subject, stage, qos, reason } = series;
    const key = `${subject}\n${stage}\n${qos ?? ''}\n${reason ?? ''}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const fits = this.#tags.every((tag) => this.#fits(tag, series));
    if (this.#known.size < MAX_KNOWN) this.#known.set(key, fits);
    return fits;
  }

  /** Whether a subject of the plan is meant, whatever its metric. */
  meansSubject(subject: string): boolean {
    return this.#tags.every(
      (tag) => tag.key === 'reason' || tag.key === 'stage' || this.#fitsSubject(tag, subject, null),
    );
  }

  #fits(tag: TagFilter, series: SeriesKey): boolean {
    if (tag.key === 'reason') return matchesTag(tag, series.reason ?? '');
    if (tag.key === 'stage') return matchesTag(tag, this.#stages[series.stage] ?? '');
    return this.#fitsSubject(tag, series.subject, series.qos ?? null);
  }

  #fitsSubject(tag: TagFilter, name: string, qos: number | null): boolean {
    const subject = this.#subjects.get(name);
    if (tag.key === 'group') return matchesTag(tag, subject?.group ?? name);
    if (tag.key === 'qos') return matchesTag(tag, String(qos ?? subject?.qos ?? ''));
    const names = subject?.streams ?? [];
    return tag.op === '!='
      ? names.every((stream) => matchesTag(tag, stream))
      : names.some((stream) => matchesTag(tag, stream));
  }
}

/** Reasons come from brokers: no more different ones are remembered than this. */
const MAX_KNOWN = 10_000;

export function metricFilter(
  metric: MetricName,
  parsed: ParsedThreshold,
  plan: Doings,
): SeriesFilter {
  return new SeriesFilter(metric, parsed.tags, plan);
}

/** For the denominator of a share: failures have reasons, what they are a share of has none. */
export function baseFilter(base: MetricName, parsed: ParsedThreshold, plan: Doings): SeriesFilter {
  return new SeriesFilter(
    base,
    parsed.tags.filter((tag) => tag.key !== 'reason'),
    plan,
  );
}

function subjectsOf(plan: Doings): Map<string, Subject> {
  const subjects = new Map<string, Subject>();
  for (const group of plan.groups) {
    subjects.set(group.name, { group: group.name, streams: [], qos: null });
    for (const { name, subject, qos } of [...group.publish, ...group.subscribe]) {
      const streams = name === null ? [] : [name, subject];
      subjects.set(subject, { group: group.name, streams, qos });
    }
  }
  return subjects;
}
