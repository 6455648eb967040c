import type { BusNotice, BusReceiver, RunBus } from '@squall/core/bus';
import { SquallError } from '@squall/core/errors';
import type { Plan } from '@squall/core/plan';
import { linksOf } from '../bus/agent-links.ts';
import type { AgentHub } from '../hub/hub.ts';
import { BACK_MARGIN_US, BUS_RETRY_US } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import { Acknowledger } from './acknowledger.ts';
import type { CheckpointStore } from './checkpoint/checkpointer.ts';
import type { Measurements } from './measurements.ts';
import type { Roster } from './roster.ts';
import type { RunId } from './run-id.ts';
import { HURRY, type Waiter } from './waiter.ts';

/** The way of a run's frames, from the moment on at which agents may use it. */
export interface FrameWay {
  readonly receiver: BusReceiver;
  readonly acknowledger: Acknowledger;
}

export interface WayScene {
  readonly id: RunId;
  readonly bus: RunBus;
  readonly hub: AgentHub;
  readonly roster: Roster;
  /** What a checkpoint has; null in a run that begins. */
  readonly measurements: Measurements | null;
  readonly checkpoints: CheckpointStore | null;
  notice(notice: BusNotice): void;
}

export interface BackScene extends WayScene {
  readonly plan: Plan;
  readonly time: TimeSource;
  readonly waiter: Waiter;
}

/**
 * The way of a run that is taken up. A bus that is down has as long as the agents have to come back:
 * they go on with their load, and keep what they measure.
 */
export async function wayBack(scene: BackScene): Promise<FrameWay | string> {
  const { plan, time, waiter } = scene;
  const sinceUs = time.monotonicUs();
  const deadlineUs = sinceUs + plan.limits.agentGraceUs + BACK_MARGIN_US;
  let isDown = false;
  for (;;) {
    const way = await openWay(scene);
    const nowUs = time.monotonicUs();
    if (typeof way === 'object') {
      if (isDown) scene.notice({ kind: 'resumed', afterUs: nowUs - sinceUs });
      return way;
    }
    if (nowUs >= deadlineUs || waiter.hurry >= HURRY.hard) return way;
    if (!isDown) scene.notice({ kind: 'interrupted', reason: way });
    isDown = true;
    await waiter.reach(Math.min(deadlineUs, nowUs + BUS_RETRY_US), HURRY.hard);
  }
}

/** Opens the way, or tells why the bus cannot carry this run. */
export async function openWay(scene: WayScene): Promise<FrameWay | string> {
  const { bus, checkpoints, hub, id, measurements, roster } = scene;
  const positions = roster.agents.map((agent) => {
    return measurements?.position(agent) ?? { agent: agent.id, epoch: agent.epoch, seq: 0 };
  });
  try {
    const receiver = await bus.open({
      run: id.full,
      agents: positions.map(({ agent, epoch, seq }) => ({ agent, epoch, afterSeq: seq })),
      link: linksOf(hub),
      notice: (notice) => scene.notice(notice),
    });
    const acknowledger = new Acknowledger(receiver, checkpoints === null ? 'folded' : 'saved');
    acknowledger.saved(positions);
    return { receiver, acknowledger };
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
  }
}
