import type { RunBus } from '@squall/core/bus';
import type { Plan } from '@squall/core/plan';
import type { RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import type { BusWatch } from './bus-watch.ts';
import type { SavedRun } from './checkpoint/saved-run.ts';
import { type Cut, stageEndOf } from './cut.ts';
import { Measurements } from './measurements.ts';
import type { Roster } from './roster.ts';
import type { RunId } from './run-id.ts';
import type { RunVoice } from './run-voice.ts';
import { StageWalk } from './stage-walk.ts';
import { HURRY, type Hurry, type Waiter } from './waiter.ts';

/** What there is of a run once T is announced. */
export interface Load {
  /** T, µs of the monotonic clock. */
  readonly startUs: number;
  readonly measurements: Measurements;
  readonly walk: StageWalk;
  /** Null while there is load. */
  endUs: number | null;
}

export interface LoadScene {
  readonly id: RunId;
  readonly plan: Plan;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly waiter: Waiter;
  readonly voice: RunVoice;
  readonly bus: RunBus;
  readonly busWatch: BusWatch;
  readonly roster: Roster;
  cut(): Cut | null;
  cutShort(cut: Cut, hurry: Hurry): void;
}

/** The load of a run that starts at T. */
export function newLoad(scene: LoadScene, startUs: number): Load {
  return loadOf(scene, { startUs, loadEndUs: null });
}

/** The load of a run that was put away, as far as it had come. */
export function restoreLoad(scene: LoadScene, saved: SavedRun): Load {
  return loadOf(scene, saved);
}

type Begun = Pick<SavedRun, 'startUs' | 'loadEndUs'> &
  Partial<Pick<SavedRun, 'measured' | 'stages'>>;

function loadOf(scene: LoadScene, { startUs, loadEndUs, measured, stages }: Begun): Load {
  const { roster, timing, voice } = scene;
  const warning = (text: string) => voice.warn(text);
  const measurements = new Measurements({
    ...scene,
    run: scene.id.full,
    startUs,
    watermarkUs: timing.watermarkUs,
    noticeUs: scene.bus.noticeUs,
    holdsUp: (agents) => scene.busWatch.holdsUp(agents),
    saved: measured,
    warning,
  });
  const walk = new StageWalk(
    {
      ...scene,
      rttUs: () => roster.rttUs(),
      conditionHolds: (stage) => measurements.conditionHolds(stage),
      cutEnd: () => stageEndOf(scene.cut()),
      incomplete: (reason) =>
        scene.cutShort({ cause: 'incomplete', reasons: [reason] }, HURRY.graceful),
      event: (event) => {
        if (voice.state === 'starting') voice.enter('running', 'the load has begun');
        voice.emit(event);
      },
      warning,
    },
    stages,
  );
  return { startUs, measurements, walk, endUs: loadEndUs };
}
