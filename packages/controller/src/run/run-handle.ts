import type { MetricName } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import type { Report } from '@squall/core/report';
import type { RunAgentView, RunFigures } from './run-figures.ts';

/** How far a run is. `waiting`: for agents; `starting`: everyone is ready, T is announced. */
export type RunState =
  | 'waiting'
  | 'assigning'
  | 'starting'
  | 'running'
  | 'settling'
  | 'collecting'
  | 'done';

export type RunEvent =
  | { readonly type: 'state'; readonly state: RunState; readonly text: string }
  | {
      readonly type: 'stage';
      readonly index: number;
      readonly name: string;
      /** `prologue`: clients are being connected first. `main`: the stage's clock runs. */
      readonly phase: 'prologue' | 'main';
    }
  | { readonly type: 'agent'; readonly agent: string; readonly state: AgentRunState }
  /** Something that a person should know now; it is in the report, too, where it matters. */
  | { readonly type: 'warning'; readonly text: string }
  /** About once a second while there is load or settling. */
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'done'; readonly report: Report };

export type AgentRunState =
  | 'assigned'
  | 'ready'
  | 'refused'
  | 'active'
  | 'cut off'
  | 'lost'
  | 'done';

/** Figures of the whole run at one moment, for a live view. */
export interface Progress {
  readonly stage: { readonly index: number; readonly name: string } | null;
  readonly phase: 'prologue' | 'main' | 'settle' | 'cleanup';
  /** µs since T. */
  readonly elapsedUs: number;
  /** µs since the stage's clock (or the prologue's start), and its length where that is known. */
  readonly stageElapsedUs: number;
  readonly stageLengthUs: number | null;
  /** Messages a second that the stage is to send at this moment; null where it has no pace. */
  readonly targetPerS: number | null;
  /** Clients of the plan, and connections now. */
  readonly clients: number;
  readonly connections: number;
  /** Counters since the start of the run; metrics that never moved are left out. */
  readonly totals: Readonly<Partial<Record<MetricName, number>>>;
  /** The same counters a second, over the newest complete second. */
  readonly rates: Readonly<Partial<Record<MetricName, number>>>;
  /** Over the newest complete second; null where nothing was recorded in it. */
  readonly times: Readonly<Partial<Record<MetricName, ProgressTime>>>;
  readonly agents: readonly ProgressAgent[];
}

export interface ProgressTime {
  readonly p50Us: number;
  readonly p99Us: number;
}

export interface ProgressAgent {
  readonly id: string;
  readonly state: AgentRunState;
  readonly loopDelayP99Us: number | null;
  readonly rssBytes: number | null;
}

export interface RunHandle {
  /** Full id: unique, sorts by start. */
  readonly id: string;
  readonly shortId: string;
  readonly plan: Plan;
  readonly state: RunState;
  /** Null before T is announced. */
  readonly figures: RunFigures | null;
  /** In the order of the split; none before they are taken. */
  agents(): readonly RunAgentView[];
  /** Something that happened to the run outside of it, for its listeners and its report. */
  warn(text: string): void;
  /** Listeners get every event from now on. The returned function ends that. */
  onEvent(listener: (event: RunEvent) => void): () => void;
  /**
   * `graceful`: the load ends now, what is under way is awaited and judged as far as it goes.
   * `hard`: connections are cut and only what was measured so far is reported. A second hard stop
   * waits for nothing at all. Does nothing when the run is over.
   */
  stop(mode: 'graceful' | 'hard', by: 'signal' | 'api'): void;
  /** Always resolves, whatever happens to the run; rejects only by a fault of ours. */
  readonly done: Promise<Report>;
}
