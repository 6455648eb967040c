import type { BalanceResult } from '../balance/balance-watch.ts';
import type { LedgerResult } from '../ledger/row.ts';
import type { RunAggregate } from '../metrics/index.ts';
import type { AgentShare } from '../partition/partition.ts';
import type { Plan } from '../plan/plan.ts';
import type { ProbeRecord } from '../probes/probe-book.ts';
import type { ThresholdResult } from '../thresholds/result.ts';
import type { GeneratorFacts } from './generator-watch.ts';
import type { StageEnd } from './model.ts';

/**
 * Everything that a report is made of. The controller fills it when a run is over, however it ended.
 * Moments are µs on the run's timeline (0 = T, the start of the first stage).
 */
export interface ReportInput {
  readonly run: RunFacts;
  readonly plan: Plan;
  readonly split: readonly AgentShare[];
  readonly agents: readonly AgentRecord[];
  /** Stages that were entered, in order. */
  readonly stages: readonly StageRecord[];
  /** Everything that was measured; null where the load never began. */
  readonly aggregate: RunAggregate | null;
  /** From `Judge.finish()`. */
  readonly thresholds: readonly ThresholdResult[];
  /** From `GeneratorWatch.facts()`. */
  readonly generator: GeneratorFacts;
  /** From `LedgerJoin.join()`; left out where delivery was not verified. */
  readonly ledger?: LedgerResult;
  /** What the probes read; left out where the plan has none. */
  readonly probes?: ReadonlyMap<string, ProbeRecord>;
  /** From `BalanceWatch.results()`. */
  readonly balance?: readonly BalanceResult[];
  readonly outcome: RunOutcome;
  /** Warnings of the run that a reader should know, one sentence each. */
  readonly notes: readonly string[];
  /** What happened to the bus. No harm by itself: frames that never arrived are counted apart. */
  readonly bus?: readonly BusTrouble[];
}

export interface BusTrouble {
  readonly check: 'bus_interrupted' | 'bus_data_lost' | 'bus_gap' | 'bus_memory' | 'bus_length';
  readonly observed: number | string;
  readonly agent?: string;
  readonly hint: string;
}

export interface RunFacts {
  readonly id: string;
  /** UTC of T; of the submission where the load never began. */
  readonly startedUtcMs: number;
  /** From that moment to the end of the run. */
  readonly durationUs: number;
  readonly version: string;
  /** Of the controller's host: Node, system, cores … */
  readonly environment: Readonly<Record<string, string | number>>;
  /** The plan's and those of the command line. */
  readonly labels: Readonly<Record<string, string>>;
  readonly strict: boolean;
  readonly scale: number;
  readonly scaled: readonly ScaledValue[];
}

export interface ScaledValue {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

export interface AgentRecord {
  readonly id: string;
  readonly host: string;
  readonly cores: number;
  readonly workers: number;
  readonly version: string;
  readonly state: 'completed' | 'lost' | 'refused';
  readonly lostAtUs: number | null;
  /** Why it was lost or refused, one sentence. */
  readonly reason: string | null;
  readonly workersLost: readonly { readonly worker: number; readonly reason: string }[];
  readonly clockBoundUs: number | null;
  readonly startSkewUs: number | null;
  /** Last sequence that the agent named in `finished`; null where it never did. */
  readonly framesProduced: number | null;
  readonly framesReceived: number;
  readonly cpuSeconds: number | null;
  readonly rssBytesMax: number | null;
  /** Worst p99 of the event-loop delay that it reported. */
  readonly loopDelayP99Us: number | null;
  /** Agents of one host have the same, and the same figures of it. */
  readonly clockDomain?: string;
  /** How its host fared during the run, by the names of a probe of type host. */
  readonly hostFigures?: Readonly<Record<string, { readonly mean: number; readonly max: number }>>;
  /** The same as curves, on the run's timeline. */
  readonly hostPoints?: Readonly<
    Record<string, readonly (readonly [atUs: number, value: number])[]>
  >;
}

export interface StageRecord {
  /** Index in `plan.stages`. */
  readonly index: number;
  readonly enteredUs: number;
  /** Null where its clock never started (a prologue that was cut off). */
  readonly clockUs: number | null;
  readonly endUs: number;
  readonly endedBy: StageEnd;
}

/** Why the run ended. `reasons` are plain sentences, most important first. */
export type RunOutcome =
  | { readonly kind: 'completed' }
  /** A threshold with `abort` ended it; the verdict comes from the thresholds. */
  | { readonly kind: 'threshold'; readonly reasons: readonly string[] }
  /** A fault of ours. */
  | { readonly kind: 'error'; readonly reasons: readonly string[] }
  /** Before the start: too few agents, or one refused its share. */
  | { readonly kind: 'agents'; readonly reasons: readonly string[] }
  | {
      readonly kind: 'cancelled';
      readonly by: 'api' | 'signal';
      readonly reasons: readonly string[];
    }
  | {
      readonly kind: 'aborted';
      readonly policy: 'agent_lost' | 'max_duration' | 'incomplete';
      readonly reasons: readonly string[];
    };
