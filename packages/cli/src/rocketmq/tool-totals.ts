import type { RunHandle } from '@squall/controller';
import type { MetricName } from '@squall/core/metrics';
import type { ToolKind } from './flags.ts';

type Figures = NonNullable<RunHandle['figures']>;

/** Sum and number of times, µs. */
export interface TimeSum {
  readonly count: number;
  readonly sumUs: number;
}

/** What their tools count, since the start of the run. */
export interface ToolTotals {
  /** µs on the run's timeline. */
  readonly atUs: number;
  /** Messages that were acknowledged, or received. */
  readonly done: number;
  /** Messages that theirs would count as `Send Failed`: no answer, or an answer that it tries again. */
  readonly sendFailed: number;
  /** And as `Response Failed`: answers that it does not try again, in practice code 2. */
  readonly responseFailed: number;
  /** Acknowledged, though the disk or a slave did not confirm. */
  readonly unconfirmed: number;
  /** Half messages that the broker asked about. */
  readonly checks: number;
  readonly consumeFailed: number;
  readonly roundTrip: TimeSum;
  readonly bornToReceived: TimeSum;
  readonly storedToReceived: TimeSum;
}

/** Codes that official clients send again, as often as their retries go. */
const TRIED_AGAIN = [1, 14, 16, 17, 204, 205];
const ASKED = 'committed when asked';

export function totalsOf(figures: Figures, kind: ToolKind): ToolTotals {
  const { aggregate } = figures;
  const counter = (metric: MetricName): number => aggregate.counter({ metric });
  let sendFailed = 0;
  let responseFailed = 0;
  for (const { key, value } of aggregate.series({ metric: 'publish_failed' })) {
    if (isTriedAgain(key.reason ?? '')) sendFailed += value;
    else responseFailed += value;
  }
  const time = (metric: MetricName): TimeSum => {
    const { count, sumUs } = aggregate.histogram({ metric });
    return { count, sumUs };
  };
  return {
    atUs: figures.closedUs(),
    done: counter(kind === 'consumer' ? 'received' : 'acked'),
    sendFailed,
    responseFailed,
    unconfirmed: counter('unconfirmed'),
    checks: aggregate.counter({ metric: 'transactions', reason: ASKED }),
    consumeFailed: counter('consume_failed'),
    roundTrip: time('service_time'),
    bornToReceived: time('born_time'),
    storedToReceived: time('stored_time'),
  };
}

/** `SYSTEM_BUSY (2) [OVERLOAD]` has a code; `timed out` has none, and theirs tries again. */
function isTriedAgain(reason: string): boolean {
  const code = /\((\d+)\)|response code (\d+)/.exec(reason);
  return code === null || TRIED_AGAIN.includes(Number(code[1] ?? code[2]));
}
