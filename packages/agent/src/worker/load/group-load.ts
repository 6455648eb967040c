import type { Activity, Stage, StageWork } from '@squall/core/plan';
import type { StageNeeds } from '@squall/core/schedule';
import type { Feed } from '../publish/feed.ts';

export type PublishActivity = Extract<Activity, { kind: 'publish' }>;

/** One stream of a group at work in one stage. */
export interface GroupRun {
  readonly feed: Feed;
  /** Its messages answer others: how many there will be is not known before. */
  readonly answers: boolean;
  /** When the drain of an ended stage is over, µs; Infinity while the stage runs. */
  drainUntilUs: number;
  /** Whether every message of the stage has found its end. */
  readonly resolved: boolean;
  /** Notes where every client is when the stage's clock starts, if the stream was running before. */
  mark(): void;
  showGauges(): void;
}

/** One group's share of a worker, whatever protocol it speaks: what the engine drives. */
export interface GroupLoad {
  readonly name: string;
  /** Clients that finally failed. */
  readonly failed: number;
  /** Starts what a stage needs before its clock, or what connecting and subscribing it is made of. */
  prepare(needs: StageNeeds, stage: Stage, atUs: number): void;
  /** Whether `prepare` has come to its end: every client has done it or finally failed. */
  prepared(needs: StageNeeds): boolean;
  /** The answers of a stage, from where it is entered: of all entries that have begun by then. */
  beginAnswering(stage: number): GroupRun[];
  /** Starts what the stage does besides publishing, at its clock. */
  begin(work: StageWork, clockUs: number): void;
  /** Begins a stream in a stage; its tick 0 is due at `clockUs`. */
  beginStream(activity: PublishActivity, stage: number, clockUs: number): GroupRun;
  /** Whether what `begin` started is done. */
  isDone(work: StageWork): boolean;
  /** The stage's length is known: what it does to connections ends by index, too. */
  endTurns(clockUs: number, lengthUs: number): void;
  /** The load is over: clients that had no turn to come or go yet get none. */
  stopWalking(): void;
  /** Opens the series of a stage. */
  show(stage: number): void;
  /** When there is something to do next, µs. */
  nextUs(): number;
  /** Does what connections want to have done. */
  work(nowUs: number): void;
  /** Picks up what is due before `beforeUs`. */
  pick(beforeUs: number): void;
  /** Drops what has waited longer than the backlog. */
  expire(): void;
  /** Looks for time-outs. */
  scan(): void;
  /** Whether anything is awaited that may time out. */
  readonly isAwaiting: boolean;
  /** Hands everything written to the kernel and books what it took. */
  flush(): void;
  beforeCut(): void;
  afterCut(): void;
  /** The drain of a run is over. */
  drainOver(run: GroupRun): void;
  /** The load was cut off in the middle of a run. */
  cutOff(run: GroupRun): void;
  /** Takes a run out that has come to its end. */
  remove(run: GroupRun): void;
  /** The load is over: connections close, or are cut. */
  closeAll(hard: boolean): void;
  /** Cuts everything at once: the agent is gone. */
  abort(): void;
  /** What has to be asked of brokers once nothing is sent any more; null where nothing has. */
  readonly lastDuties: (() => Promise<void>) | null;
}
