import type { RunBus } from '@squall/core/bus';
import type { Plan } from '@squall/core/plan';
import type { RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import type { BusWatch } from './bus-watch.ts';
import type { CheckpointStore } from './checkpoint/checkpointer.ts';
import type { SavedRun } from './checkpoint/saved-run.ts';
import { type Cut, stageEndOf } from './cut.ts';
import { Measurements } from './measurements.ts';
import type { RunProbes } from './probes/run-probes.ts';
import type { Roster } from './roster.ts';
import type { RunId } from './run-id.ts';
import { RunLedger } from './run-ledger.ts';
import type { RunVoice } from './run-voice.ts';
import { StageWalk } from './stage-walk.ts';
import type { SubmitOptions } from './submit-options.ts';
import { HURRY, type Hurry, type Waiter } from './waiter.ts';

/** What there is of a run once T is announced. */
export interface Load {
  /** T, µs of the monotonic clock. */
  readonly startUs: number;
  readonly measurements: Measurements;
  readonly ledger: RunLedger;
  readonly walk: StageWalk;
  readonly probes: RunProbes;
  /** Null while there is load. */
  endUs: number | null;
}

export interface LoadScene {
  readonly id: RunId;
  readonly plan: Plan;
  readonly options: SubmitOptions;
  readonly checkpoints: CheckpointStore | null;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly waiter: Waiter;
  readonly voice: RunVoice;
  readonly bus: RunBus;
  readonly busWatch: BusWatch;
  readonly roster: Roster;
  readonly probes: RunProbes;
  /** A probe was read. */
  probed(): void;
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
  Partial<Pick<SavedRun, 'measured' | 'stages' | 'pages'>>;

function loadOf(scene: LoadScene, begun: Begun): Load {
  const { startUs, loadEndUs, measured, stages } = begun;
  const { roster, timing, voice } = scene;
  const warning = (text: string) => voice.warn(text);
  const ledger = ledgerOf(scene, begun);
  const measurements = new Measurements({
    ...scene,
    ledger,
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
  scene.probes.begin({
    startUs,
    aggregate: measurements.aggregate,
    stage: () => walk.records.at(-1) ?? null,
    changed: () => scene.probed(),
  });
  return { startUs, measurements, ledger, walk, probes: scene.probes, endUs: loadEndUs };
}

function ledgerOf(scene: LoadScene, { measured, pages }: Begun): RunLedger {
  const { checkpoints, id, options, plan, roster } = scene;
  return new RunLedger({
    plan,
    split: roster.agents.map((agent) => agent.share),
    shortRun: id.short,
    // Checkpoints do not have them.
    secrets: options.secrets ?? (measured === undefined ? {} : null),
    rows: options.material?.rows ?? (measured === undefined ? {} : null),
    isSaved: checkpoints !== null,
    known: pages ?? [],
  });
}
