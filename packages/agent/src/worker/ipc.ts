import type { PeerView } from '@squall/core/clock';
import type { LedgerPage } from '@squall/core/ledger/worker';
import type { Slice } from '@squall/core/metrics';
import type { ClientRange, GroupRows } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';

/**
 * What an agent and its worker processes say to each other over Node's IPC channel. Both ends are
 * one version of one package, so nothing is checked here. Moments are µs of the host's
 * CLOCK_MONOTONIC, which all processes of a host share.
 *
 * Stages with `for` end by themselves at clock + for: the worker then enters the next stage (or the
 * end) without being told.
 */
export type ToWorker =
  | {
      readonly type: 'init';
      readonly run: string;
      /** For `{{run}}` and client ids. */
      readonly shortRun: string;
      readonly agent: string;
      readonly worker: number;
      readonly plan: Plan;
      /** The worker's clients, by the group's index. */
      readonly ranges: readonly ClientRange[];
      readonly secrets: Readonly<Record<string, string>>;
      /** Contents of the files that the plan names, base64. */
      readonly files: Readonly<Record<string, string>>;
      /** Rows of the groups that have a CSV file, by the group's name: those of the worker's clients. */
      readonly rows: Readonly<Record<string, GroupRows>>;
      /** Hash of the host's clock domain, for the stamp. */
      readonly clockDomain: number;
    }
  /** Enter `stage` at `atUs`; the number of stages means the end of the load. */
  | { readonly type: 'advance'; readonly stage: number; readonly atUs: number }
  /** The barrier after the prologue of `stage`: its clock starts at `atUs`. */
  | { readonly type: 'clock'; readonly stage: number; readonly atUs: number }
  /** How the clocks of other hosts look from ours; each takes the place of the one before. */
  | ({ readonly type: 'clocks' } & PeerView)
  | { readonly type: 'stop'; readonly mode: 'graceful' | 'hard' }
  /** Disconnect every client, cut the last slice, give the ledger, say `finished`, exit. */
  | { readonly type: 'finish' }
  /** The last page of the ledger was taken: there is room for the next one. */
  | { readonly type: 'next_page' };

export type FromWorker =
  /** The process runs and can take `init`. */
  | { readonly type: 'hello' }
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly reasons: readonly string[] }
  /** The first stage began this much after T. */
  | { readonly type: 'started'; readonly skewUs: number }
  | {
      readonly type: 'stage_state';
      readonly stage: number;
      readonly state: 'prologue_done' | 'complete' | 'drained';
      readonly failed: Readonly<Record<string, number>>;
    }
  /** Every worker sends every slice, empty ones too: the agent merges by (stage, phase, n). */
  | { readonly type: 'slice'; readonly slice: Slice; readonly loopDelayP99Us: number }
  /** After the last slice. The next page waits for `next_page`, `finished` for the last one's. */
  | { readonly type: 'ledger'; readonly page: LedgerPage }
  | { readonly type: 'finished'; readonly cpuSeconds: number; readonly rssBytesMax: number };
