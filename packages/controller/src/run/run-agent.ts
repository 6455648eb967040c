import type { AgentHealth } from '@squall/core/control';
import type { AgentShare } from '@squall/core/partition';
import type { AgentSession, RunMessage } from '../hub/session.ts';
import type { SavedAgent } from './checkpoint/saved-run.ts';
import { HostRecord } from './host-record.ts';
import type { AgentRunState } from './run-handle.ts';

/** An agent is new in each run and starts it once; a restart within a run would be epoch 2. */
export const FIRST_EPOCH = 1;

/** What an agent says when it is done. */
export type Finished = Pick<
  Extract<RunMessage, { type: 'finished' }>,
  'lastSeq' | 'cpuSeconds' | 'rssBytesMax' | 'cleaned'
>;

/** One agent in one run, with everything that the report says about it. */
export class RunAgent {
  readonly session: AgentSession;
  readonly share: AgentShare;
  readonly epoch: number;
  state: AgentRunState = 'assigned';
  refusals: readonly string[] = [];
  startSkewUs: number | null = null;
  clockBoundUs: number | null = null;
  /** When and why it was given up, µs of the monotonic clock. */
  lost: { readonly atUs: number; readonly reason: string } | null = null;
  workersLost: readonly { readonly worker: number; readonly reason: string }[] = [];
  finished: Finished | null = null;
  /** From heartbeats, null before the first; `finished` knows better, where it comes. */
  cpuSeconds: number | null = null;
  rssBytesMax: number | null = null;
  loopDelayP99Us: number | null = null;
  /** Not in checkpoints: after a restart of the controller it counts from there. */
  readonly hostRecord = new HostRecord();

  constructor(session: AgentSession, share: AgentShare, epoch: number = FIRST_EPOCH) {
    this.session = session;
    this.share = share;
    this.epoch = epoch;
  }

  /** The agent as a checkpoint knows it. */
  static restored(session: AgentSession, { share, epoch, told }: SavedAgent): RunAgent {
    return Object.assign(new RunAgent(session, share, epoch), told);
  }

  toJSON(): SavedAgent {
    const { session, id, epoch, share, finished } = this;
    return {
      id,
      facts: session.facts,
      epoch,
      share,
      told: {
        state: this.state,
        refusals: [...this.refusals],
        startSkewUs: this.startSkewUs,
        clockBoundUs: this.clockBoundUs,
        lost: this.lost,
        workersLost: [...this.workersLost],
        finished: finished && finishedOf(finished),
        cpuSeconds: this.cpuSeconds,
        rssBytesMax: this.rssBytesMax,
        loopDelayP99Us: this.loopDelayP99Us,
      },
    };
  }

  get id(): string {
    return this.session.id;
  }

  /**
   * Whether everything that it had to say was said on its link: the first heartbeat comes after what
   * is repeated.
   */
  get isBack(): boolean {
    return this.session.connected && this.session.health !== null;
  }

  takeHealth(health: AgentHealth): void {
    this.cpuSeconds = health.cpuSeconds;
    this.rssBytesMax = Math.max(this.rssBytesMax ?? 0, health.rssBytes);
    this.loopDelayP99Us = Math.max(this.loopDelayP99Us ?? 0, health.loopDelayP99Us);
  }
}

function finishedOf({ lastSeq, cpuSeconds, rssBytesMax, cleaned }: Finished): Finished {
  const finished = { lastSeq, cpuSeconds, rssBytesMax };
  return cleaned === undefined ? finished : { ...finished, cleaned };
}
