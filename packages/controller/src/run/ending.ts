import type { Plan } from '@squall/core/plan';
import { stageNeeds } from '@squall/core/schedule';
import { BACK_MARGIN_US, CLEANUP_MARGIN_US, type RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import type { Roster } from './roster.ts';
import type { RunAgent } from './run-agent.ts';
import { HURRY, type WaitEnd, type Waiter } from './waiter.ts';

export interface EndingScene {
  readonly plan: Plan;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly waiter: Waiter;
  readonly roster: Roster;
  /** When something was received last, and how far all live agents have reported; monotonic µs. */
  quiet(): { readonly fromUs: number; readonly reportedUs: number };
  /** When everything had arrived that was expected, monotonic µs; null while that is not known. */
  allArrivedUs(): number | null;
  /** Whether every frame of the agent up to its last one is in. */
  framesComplete(agent: RunAgent): boolean;
  warning(text: string): void;
}

/**
 * After a restart of the controller: waits until every agent that still has something to say has said
 * again where it is. Each has its grace to come back.
 */
export async function agentsBack(scene: EndingScene): Promise<void> {
  const { plan, roster, time, waiter } = scene;
  await waiter.wait({
    until: () => roster.live().every((agent) => agent.isBack || scene.framesComplete(agent)),
    deadlineUs: time.monotonicUs() + plan.limits.agentGraceUs + BACK_MARGIN_US,
    yieldsTo: HURRY.hard,
  });
}

/**
 * After the end of the load: acknowledgements first, then whatever still arrives. Once that is all
 * that was expected, what may follow by mistake (a duplicate of the last message, say) gets a moment,
 * whoever else still sends on the same topics; else the plan says how long is waited.
 */
export async function settle(scene: EndingScene, loadEndUs: number): Promise<void> {
  const { plan, roster, timing, waiter } = scene;
  const drained = await waiter.wait({
    until: () => roster.all(plan.stages.length, 'drained'),
    deadlineUs: loadEndUs + plan.drainUs + timing.drainMarginUs,
    yieldsTo: HURRY.hard,
  });
  if (drained === 'deadline') scene.warning('not every agent said that it is drained');
  if (drained === 'interrupted' || !subscribes(plan)) return;
  await waiter.wait({
    until: () => {
      const { fromUs, reportedUs } = scene.quiet();
      const allUs = scene.allArrivedUs();
      const lingerUs = Math.min(timing.lingerUs, plan.settle.quietUs);
      if (allUs !== null && reportedUs - Math.max(allUs, loadEndUs) >= lingerUs) return true;
      return reportedUs - Math.max(fromUs, loadEndUs) >= plan.settle.quietUs;
    },
    deadlineUs: loadEndUs + plan.settle.maxUs,
    yieldsTo: HURRY.graceful,
  });
}

/** Lets the agents finish and collects what they still have to report. */
export async function collect(scene: EndingScene): Promise<void> {
  const { plan, timing, roster } = scene;
  const cleanupUs = plan.cleanup === null ? 0 : plan.cleanup.maxUs + CLEANUP_MARGIN_US;
  roster.order({ type: 'finish' });
  const finished = await waitUnlessHurried(scene, {
    until: () => roster.live().every((agent) => agent.finished !== null),
    limitUs: timing.finishUs + cleanupUs,
  });
  if (finished === 'deadline') {
    const late = roster.live().filter((agent) => agent.finished === null);
    scene.warning(`did not finish in time: ${late.map((agent) => agent.id).join(', ')}`);
  }
  const complete = await waitUnlessHurried(scene, {
    until: () => roster.live().every((agent) => scene.framesComplete(agent)),
    limitUs: timing.collectUs,
  });
  if (complete === 'deadline') scene.warning('not every measurement arrived in time');
}

/** A hard stop cuts the limit down; a second one ends the wait. */
async function waitUnlessHurried(
  scene: EndingScene,
  wait: { readonly until: () => boolean; readonly limitUs: number },
): Promise<WaitEnd> {
  const { time, timing, waiter } = scene;
  const calm = await waiter.wait({
    until: wait.until,
    deadlineUs: time.monotonicUs() + wait.limitUs,
    yieldsTo: HURRY.hard,
  });
  if (calm !== 'interrupted') return calm;
  return waiter.wait({
    until: wait.until,
    deadlineUs: time.monotonicUs() + timing.hardStopUs,
    yieldsTo: HURRY.impatient,
  });
}

function subscribes(plan: Plan): boolean {
  return stageNeeds(plan).some((needs) => needs.subscribes.size > 0);
}
