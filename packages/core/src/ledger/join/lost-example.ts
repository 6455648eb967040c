import { at } from '../element.ts';
import type { PageClock } from '../page.ts';
import { GAP_DISCONNECTED, GAP_SESSION_LOST } from '../pair-table.ts';
import type { PlanNames } from '../plan-names.ts';
import type { LedgerExample } from '../row.ts';
import type { LostNumber } from './pair-figures.ts';
import type { PublisherColumn } from './publisher-store.ts';

/** Who sent a message that did not arrive. */
export interface LostSender {
  readonly stream: number;
  readonly publisher: number;
  readonly column: PublisherColumn | null;
  readonly clock: PageClock | null;
}

/** A lost message, for one who looks for it in the broker's log. */
export function lostExample(
  { seq: rank, flags }: LostNumber,
  scene: {
    readonly names: PlanNames;
    readonly sender: LostSender;
    readonly subscriber: string;
  },
): LedgerExample {
  const { names, sender, subscriber } = scene;
  const group = names.plan.streams[sender.stream]?.group ?? 0;
  const client = names.clientId(group, sender.publisher);
  const seq = seqOf(names, sender, rank);
  const example = { client, subscriber, seq, sentAtUs: sentAtUs(rank, sender) };
  if ((flags & GAP_SESSION_LOST) !== 0) return { ...example, while: 'session lost' };
  return (flags & GAP_DISCONNECTED) === 0 ? example : { ...example, while: 'disconnected' };
}

/** The number in a message's stamp by its number in its pair. */
export function seqOf(
  { plan }: PlanNames,
  { stream, publisher }: { readonly stream: number; readonly publisher: number },
  rank: number,
): number {
  const { turns = null, choice = 0 } = plan.streams[stream] ?? {};
  return turns === null ? rank : turns.seqOf(publisher, choice, rank);
}

/**
 * When a message was sent, µs on the run's timeline: nobody notes each one, but the publisher's first
 * and last are known, and its numbers rise with time.
 */
function sentAtUs(rank: number, { publisher, column, clock }: LostSender): number | null {
  if (column === null || clock === null) return null;
  const handed = at(column.handed, publisher);
  const firstUs = at(column.firstUs, publisher);
  const share = handed < 2 ? 0 : rank / (handed - 1);
  return Math.round(firstUs + share * (at(column.lastUs, publisher) - firstUs) - clock.startUs);
}
