import type { AgentHealth } from '@squall/core/control';
import type { AgentShare } from '@squall/core/partition';
import type { AgentSession, RunMessage } from '../hub/session.ts';
import type { AgentRunState } from './run-handle.ts';

/** An agent is new in each run and starts it once; a restart within a run would be epoch 2. */
export const FIRST_EPOCH = 1;

type Finished = Extract<RunMessage, { type: 'finished' }>;

/** One agent in one run, with everything that the report says about it. */
export class RunAgent {
  readonly session: AgentSession;
  readonly share: AgentShare;
  readonly epoch = FIRST_EPOCH;
  state: AgentRunState = 'assigned';
  refusals: readonly string[] = [];
  startSkewUs: number | null = null;
  clockBoundUs: number | null = null;
  /** When and why it was given up, µs of the monotonic clock. */
  lost: { readonly atUs: number; readonly reason: string } | null = null;
  readonly workersLost: { readonly worker: number; readonly reason: string }[] = [];
  finished: Finished | null = null;
  /** From heartbeats, null before the first; `finished` knows better, where it comes. */
  cpuSeconds: number | null = null;
  rssBytesMax: number | null = null;
  loopDelayP99Us: number | null = null;

  constructor(session: AgentSession, share: AgentShare) {
    this.session = session;
    this.share = share;
  }

  get id(): string {
    return this.session.id;
  }

  takeHealth(health: AgentHealth): void {
    this.cpuSeconds = health.cpuSeconds;
    this.rssBytesMax = Math.max(this.rssBytesMax ?? 0, health.rssBytes);
    this.loopDelayP99Us = Math.max(this.loopDelayP99Us ?? 0, health.loopDelayP99Us);
  }
}
