import { formatDuration } from '@squall/core/units';
import type { AgentHub } from '../../hub/hub.ts';
import type { ReservationListener } from '../../hub/session.ts';
import { START_REPORT_US } from '../../limits.ts';
import type { TimeSource } from '../../time-source.ts';
import type { Load } from '../load.ts';
import { Roster, type RosterParts } from '../roster.ts';
import { RunAgent } from '../run-agent.ts';
import type { RunState } from '../run-handle.ts';
import { HURRY, type Waiter } from '../waiter.ts';
import type { SavedRun } from './saved-run.ts';

export interface RestoreScene {
  readonly hub: AgentHub;
  readonly listener: ReservationListener;
  readonly keep: RosterParts['keep'];
}

export interface StartScene {
  readonly roster: Roster;
  readonly waiter: Waiter;
  readonly time: TimeSource;
}

/** The agents of a saved run. Those that count are expected back with `resume`. */
export function restoreRoster(saved: SavedRun, scene: RestoreScene): Roster {
  const { id, plan, orders } = saved;
  const agents = saved.agents.map((agent) => {
    const session = scene.hub.expect(agent, {
      run: id.full,
      epoch: agent.epoch,
      graceUs: plan.limits.agentGraceUs,
      listener: scene.listener,
    });
    return RunAgent.restored(session, agent);
  });
  // One that was lost before does not come back; what it said stays.
  for (const { lost, session } of agents) if (lost !== null) session.end(lost.reason);
  // T may have reached nobody. An agent that hears of it when it has passed starts too late.
  const standing = hasStages(saved) ? orders.standing : [];
  return new Roster({ run: id.full, agents, keep: scene.keep, orders: { ...orders, standing } });
}

/** Whether a stage was known to have begun. */
export function hasStages({ stages }: SavedRun): boolean {
  return stages.length > 0;
}

/**
 * Finds out whether T, which was being announced when the controller died, has reached anyone: then it
 * holds for all. To be asked when the agents are back.
 */
export async function isUnderWay(scene: StartScene, load: Load): Promise<boolean> {
  const { roster, time, waiter } = scene;
  const { measurements, startUs } = load;
  const begun = () =>
    measurements.aggregate.agents().length > 0 ||
    roster.agents.some(({ startSkewUs }) => startSkewUs !== null);
  const isAhead = time.monotonicUs() < startUs;
  if (!isAhead) {
    await waiter.wait({
      until: begun,
      deadlineUs: startUs + START_REPORT_US,
      yieldsTo: HURRY.graceful,
    });
    if (!begun()) return false;
  }
  roster.order({ type: 'advance', stage: 0, at: startUs });
  return true;
}

/** How far the run was. */
export function stateOf(saved: SavedRun): RunState {
  const { loadEndUs, orders } = saved;
  if (orders.standing.some(({ type }) => type === 'finish')) return 'collecting';
  if (loadEndUs !== null) return 'settling';
  return hasStages(saved) ? 'running' : 'starting';
}

/** Why the run cannot be gone on with, or null. */
export function whyNot(saved: SavedRun, clockDomain: string): string | null {
  if (saved.clockDomain === clockDomain) return null;
  return (
    'the controller was started again on another host, or after a reboot: the clock that the run ' +
    'goes by is gone, and what was measured after the last checkpoint with it'
  );
}

/** What a reader of the report must know. `obstacle`: from `whyNot`. */
export function restartNote(saved: SavedRun, obstacle: string | null, time: TimeSource): string {
  const { savedUs, savedUtcMs, startUs } = saved;
  const utcMs = time.utcMs();
  const awayUs = obstacle === null ? time.monotonicUs() - savedUs : (utcMs - savedUtcMs) * 1_000;
  const intoRun = inTenths(savedUs + awayUs - startUs);
  const at = new Date(utcMs).toISOString();
  return (
    `The controller was started again at ${at}, ${intoRun} into the run, and went on from a ` +
    `checkpoint ${inTenths(awayUs)} old; the agents had gone on by themselves.`
  );
}

function inTenths(us: number): string {
  return formatDuration(Math.max(0, Math.round(us / 100_000) * 100_000));
}
