import type { LedgerPage } from '@squall/core/ledger';
import type { AgentShare } from '@squall/core/partition';

/** What a scripted agent's ledger says of each of its clients, which hear only themselves. */
export interface LedgerScript {
  /** Messages sent and acknowledged, all in stage 0. */
  readonly sent: number;
  /** Of these, arrived: the first ones. */
  readonly arrived: number;
  /** Ends without this page of each worker. */
  readonly without?: LedgerPage['kind'];
  /** First arrivals told in each second of settle. */
  readonly told?: readonly number[];
}

/** Granted at QoS 1. */
const GRANTED = 0b101;

const granted = (client: number) => [client, 0, 0, 0, GRANTED, 1_500];

const SENT: ReadonlySet<LedgerPage['kind']> = new Set(['publishers', 'edge']);

/** Those of the pages that are there once nothing is sent any more, or the rest. */
export function ledgerPages(
  share: AgentShare,
  script: LedgerScript,
  part: 'sent' | 'arrived',
): LedgerPage[] {
  return allPages(share, script).filter(({ kind }) => SENT.has(kind) === (part === 'sent'));
}

/** The pages of all workers of a share; the plan has one group, which subscribes to its own topics. */
function allPages(share: AgentShare, script: LedgerScript): LedgerPage[] {
  const { sent, arrived, without } = script;
  return share.workers.flatMap((range, worker) => {
    const { first, clients } = range.groups[0] ?? { first: 0, clients: 0 };
    const numbers = Array.from({ length: clients }, (_, k) => first + k);
    const head = (page: number) => ({
      worker,
      page,
      last: page === 4,
      clock: { domain: 7, startUs: 1_000 },
    });
    const handed = (client: number) => [client, sent, 2_000, 9_000, 0, 0, 0];
    const heard = (client: number) => [client, 0, 0, client, arrived, 0];
    const granting = { group: 0, filters: 1, sessionsLost: 0, rows: numbers.flatMap(granted) };
    const pages: LedgerPage[] = [
      {
        ...head(0),
        kind: 'publishers',
        stream: 0,
        stage: 0,
        marksUs: [],
        rows: sent === 0 ? [] : numbers.flatMap(handed),
      },
      { ...head(1), kind: 'edge', firsts: [0, 0, 2_000], held: [0, 0, clients, 1_500] },
      { ...head(2), kind: 'subscribers', ...granting },
      { ...head(3), kind: 'pairs', rows: arrived === 0 ? [] : numbers.flatMap(heard) },
      { ...head(4), kind: 'tallies', full: false, tallies: [], examples: [] },
    ];
    return pages.filter(({ kind }) => kind !== without);
  });
}
