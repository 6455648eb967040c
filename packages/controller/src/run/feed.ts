import type { Plan } from '@squall/core/plan';
import type { RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import { Checkpointer, type CheckpointStore, type TakenRun } from './checkpoint/checkpointer.ts';
import { ClockTable } from './clock-table.ts';
import type { FrameWay } from './frame-way.ts';
import { Intake } from './intake.ts';
import type { Load } from './load.ts';
import type { Roster } from './roster.ts';
import type { RunVoice } from './run-voice.ts';

export interface FeedScene {
  readonly plan: Plan;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly roster: Roster;
  readonly voice: RunVoice;
  /** Of the controller. */
  readonly clockDomain: string;
  /** Null: the run is put away nowhere. */
  readonly checkpoints: CheckpointStore | null;
  /** Figures changed. */
  readonly changed: () => void;
  /** A second has passed. */
  readonly tick: () => void;
  /** The run has taken as long as it may. */
  readonly tooLong: () => void;
  /** All there is of the run. */
  readonly take: () => TakenRun;
}

export interface Feed {
  /** Puts the run away as it is now. Null: it is put away nowhere. */
  readonly save: () => Promise<void> | null;
  /** Nothing comes in any more. Resolves when the last checkpoint is written. */
  readonly end: () => Promise<void>;
  /** Another takes its place. */
  readonly drop: () => void;
}

/** From here on measurements come in, and the run is put away every few seconds. */
export function feed(load: Load, way: FrameWay, scene: FeedScene): Feed {
  const { acknowledger, receiver } = way;
  const { measurements, startUs } = load;
  const intake = new Intake({ ...scene, bus: receiver, acknowledger, measurements }, startUs);
  const clocks = new ClockTable({ ...scene, doubt: (reason) => doubtClocks(reason, load, scene) });
  const stopTimer = keepTime(startUs, scene);
  const checkpointer = checkpointerOf(way, scene);
  const stop = () => {
    intake.stop();
    clocks.stop();
    stopTimer();
  };
  return {
    save: () => checkpointer?.save() ?? null,
    end: async () => {
      stop();
      await checkpointer?.end();
    },
    drop: () => {
      stop();
      checkpointer?.drop();
    },
  };
}

function doubtClocks(reason: string, { measurements }: Load, { voice }: FeedScene): void {
  measurements.judge.doubtClocks(reason);
  voice.warn(`${reason}: delivery times between hosts cannot be trusted`);
}

function keepTime(startUs: number, { plan, time, tooLong }: FeedScene): () => void {
  const leftUs = startUs + plan.limits.maxDurationUs - time.monotonicUs();
  return time.after(Math.max(0, leftUs), tooLong);
}

function checkpointerOf({ acknowledger }: FrameWay, scene: FeedScene): Checkpointer | null {
  const { checkpoints, roster, timing, voice } = scene;
  if (checkpoints === null) return null;
  return new Checkpointer({
    ...scene,
    // At the end whole ledgers come in, and their senders wait for each part to be safe.
    intervalUs: () => (roster.finishOrdered ? timing.lastCheckpointsUs : timing.checkpointUs),
    store: checkpoints,
    acknowledger,
    warning: (text) => voice.warn(text),
  });
}
