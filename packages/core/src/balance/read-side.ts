import { isMetricName, MAY_HAVE_ARRIVED, type RunAggregate } from '../metrics/index.ts';
import type { BalanceSide } from '../plan/balance-spec.ts';
import type { FigureRecord, ProbeBook } from '../probes/probe-book.ts';
import type { Queue } from './queues.ts';

/** Where the sides are read. */
export interface BalanceFacts {
  /** Null where the load never began. */
  readonly aggregate: RunAggregate | null;
  readonly probes: ProbeBook;
  /** Of systems that hand messages on later. */
  readonly queues?: readonly Queue[];
}

/** A side as it was read: `below` and `above` are by how much the truth may differ from its value. */
export interface ReadSide {
  readonly side: BalanceSide;
  readonly value: number | null;
  readonly below: number;
  readonly above: number;
}

/** Counters of what was sent or acknowledged: only these leave something open. */
const LEAVES_OPEN: ReadonlySet<string> = new Set(['acked', 'published', 'sent']);

export function readSide(side: BalanceSide, facts: BalanceFacts): ReadSide {
  const value = valueOf(side, facts);
  const open = openOf(side, facts);
  // Sent messages are counted whether they arrived or not, acknowledged ones are those that did.
  const isSent = side.kind === 'counter' && side.metric === 'sent';
  return { side, value, below: isSent ? open : 0, above: isSent ? 0 : open };
}

/** What a side counted since the run began; null where it was not read. */
function valueOf(side: BalanceSide, { aggregate, probes }: BalanceFacts): number | null {
  if (side.kind === 'counter') {
    if (aggregate === null || !isMetricName(side.metric)) return null;
    return aggregate.counter({ metric: side.metric, subject: side.subject });
  }
  const figure = probes.figure(side.probe, side.figure);
  return figure === null || !isReadTwice(figure) ? null : figure.increase;
}

/** One reading says where it stood, not what it grew by; nor do those that began within the load. */
function isReadTwice({ readings, points }: FigureRecord): boolean {
  return readings >= 2 && (points[0]?.[0] ?? 0) <= 0;
}

function openOf(side: BalanceSide, { aggregate }: BalanceFacts): number {
  if (side.kind === 'probe' || aggregate === null || !LEAVES_OPEN.has(side.metric)) return 0;
  const { subject } = side;
  let open = aggregate.counter({ metric: 'unfinished', subject, reason: 'in_flight' });
  for (const reason of MAY_HAVE_ARRIVED) {
    open += aggregate.counter({ metric: 'publish_failed', subject, reason });
  }
  return open;
}
