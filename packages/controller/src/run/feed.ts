import type { RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import { Checkpointer, type CheckpointStore, type TakenRun } from './checkpoint/checkpointer.ts';
import type { FrameWay } from './frame-way.ts';
import { Intake } from './intake.ts';
import type { Load } from './load.ts';
import type { Roster } from './roster.ts';
import type { RunVoice } from './run-voice.ts';

export interface FeedScene {
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly roster: Roster;
  readonly voice: RunVoice;
  /** Null: the run is put away nowhere. */
  readonly checkpoints: CheckpointStore | null;
  /** Figures changed. */
  readonly changed: () => void;
  /** A second has passed. */
  readonly tick: () => void;
  /** All there is of the run. */
  readonly take: () => TakenRun;
}

export interface Feed {
  readonly checkpointer: Checkpointer | null;
  /** Nothing comes in any more. */
  readonly stop: () => void;
}

/** From here on measurements come in, and the run is put away every few seconds. */
export function feed(load: Load, way: FrameWay, scene: FeedScene): Feed {
  const { checkpoints, roster, timing, voice } = scene;
  const { acknowledger } = way;
  const { measurements, startUs } = load;
  const intake = new Intake({ ...scene, bus: way.receiver, acknowledger, measurements }, startUs);
  const stop = () => intake.stop();
  if (checkpoints === null) return { checkpointer: null, stop };
  const checkpointer = new Checkpointer({
    ...scene,
    // At the end whole ledgers come in, and their senders wait for each part to be safe.
    intervalUs: () => (roster.finishOrdered ? timing.lastCheckpointsUs : timing.checkpointUs),
    store: checkpoints,
    acknowledger,
    warning: (text) => voice.warn(text),
  });
  return { checkpointer, stop };
}
