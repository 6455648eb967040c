import type { Plan } from '@squall/core/plan';
import type { TimeSource } from '../../time-source.ts';
import type { BusWatch } from '../bus-watch.ts';
import type { Cut } from '../cut.ts';
import type { Measurements } from '../measurements.ts';
import type { RunProbes } from '../probes/run-probes.ts';
import type { Roster } from '../roster.ts';
import type { RunId } from '../run-id.ts';
import type { RunLedger } from '../run-ledger.ts';
import type { StageWalk } from '../stage-walk.ts';
import type { SubmitOptions } from '../submit-options.ts';
import type { Hurry } from '../waiter.ts';
import type { TakenRun } from './checkpointer.ts';
import { SAVED_RUN_VERSION, type SavedRun } from './saved-run.ts';

/** A run that goes on, as its state machine knows it. Moments are µs of the monotonic clock. */
export interface RunningRun {
  readonly id: RunId;
  readonly plan: Plan;
  readonly options: SubmitOptions;
  readonly clockDomain: string;
  readonly time: TimeSource;
  readonly submittedUs: number;
  readonly submittedUtcMs: number;
  readonly startUs: number;
  readonly loadEndUs: number | null;
  readonly overUs: number | null;
  readonly cut: Cut | null;
  readonly hurry: Hurry;
  readonly warnings: readonly string[];
  readonly busWatch: BusWatch;
  readonly roster: Roster;
  readonly walk: StageWalk;
  readonly measurements: Measurements;
  readonly ledger: RunLedger;
  readonly probes: RunProbes;
}

/** All that there is of a run at this moment. It shares what goes on changing: encode it at once. */
export function takeRun(run: RunningRun): TakenRun {
  const { measurements, roster, time } = run;
  const saved: SavedRun = {
    version: SAVED_RUN_VERSION,
    clockDomain: run.clockDomain,
    savedUs: time.monotonicUs(),
    savedUtcMs: time.utcMs(),
    id: run.id,
    plan: run.plan,
    options: optionsOf(run.options),
    submittedUs: run.submittedUs,
    submittedUtcMs: run.submittedUtcMs,
    startUs: run.startUs,
    loadEndUs: run.loadEndUs,
    overUs: run.overUs,
    cut: run.cut === null ? null : { ...run.cut, reasons: [...run.cut.reasons] },
    hurry: run.hurry,
    warnings: [...run.warnings],
    busWatch: run.busWatch.toJSON(),
    agents: roster.agents.map((agent) => agent.toJSON()),
    orders: roster.toJSON(),
    stages: run.walk.toJSON(),
    measured: measurements.toJSON(),
    probes: run.probes.toJSON(),
  };
  const positions = roster.agents.map((agent) => measurements.position(agent));
  return { saved, positions, ledger: run.ledger.unsaved() };
}

/** Everything but the secrets, which the agents have and nobody else needs any more. */
function optionsOf(options: SubmitOptions): SavedRun['options'] {
  const { version, labels, strict, timeout, scale, scaled } = options;
  return {
    version,
    labels: { ...labels },
    strict: strict ?? false,
    timeout: timeout ?? false,
    scale: scale ?? 1,
    scaled: (scaled ?? []).map((value) => ({ ...value })),
  };
}
