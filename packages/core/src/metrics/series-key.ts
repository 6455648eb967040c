import type { SeriesKey } from './frame.ts';

/** One text for a series. The separator cannot occur in names, and not in reasons either. */
export function seriesKeyOf(series: SeriesKey): string {
  const { metric, subject, stage, qos, reason } = series;
  return `${metric}\n${subject}\n${stage}\n${qos ?? ''}\n${reason ?? ''}`;
}

/** The key alone, without the delta that it came with. */
export function bareKey(series: SeriesKey): SeriesKey {
  const { metric, subject, stage, qos, reason } = series;
  return {
    metric,
    subject,
    stage,
    ...(qos === undefined ? {} : { qos }),
    ...(reason === undefined ? {} : { reason }),
  };
}
