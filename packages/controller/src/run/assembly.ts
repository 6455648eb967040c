import type { RunBus } from '@squall/core/bus';
import { split } from '@squall/core/partition';
import { materialFor, type Plan, type PlanMaterial } from '@squall/core/plan';
import type { AgentHub } from '../hub/hub.ts';
import type { AgentSession, ReservationListener } from '../hub/session.ts';
import type { RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import type { AgentQueue, AgentWish } from './agent-queue.ts';
import { Roster, type RosterParts } from './roster.ts';
import { FIRST_EPOCH, RunAgent } from './run-agent.ts';
import type { RunId } from './run-id.ts';
import { HURRY, type Waiter } from './waiter.ts';

export interface AssemblyScene {
  readonly id: RunId;
  readonly plan: Plan;
  readonly secrets: Readonly<Record<string, string>>;
  readonly material: PlanMaterial;
  readonly hub: AgentHub;
  readonly queue: AgentQueue;
  readonly bus: RunBus;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly waiter: Waiter;
  readonly listener: ReservationListener;
  /** See `RosterParts`. */
  readonly keep: RosterParts['keep'];
}

/**
 * Waits until it is this run's turn to have the agents that its plan asks for, and takes them. A plan
 * that names no number takes all that are free as soon as there is one.
 * @returns the agents, or why there are not enough; null when the wait was given up.
 */
export async function gatherAgents(scene: AssemblyScene): Promise<Roster | string | null> {
  const { id, plan, queue, time, timing, waiter } = scene;
  const wish: AgentWish = { run: id.full, ...plan.limits.agents };
  const lastUs = time.monotonicUs() + timing.queueUs;
  queue.enter(wish);
  try {
    for (;;) {
      const short = queue.isShort(wish);
      // Taken where it is found out that they are free: a moment later another run could have them.
      const got: { roster: Roster | null } = { roster: null };
      const outcome = await waiter.wait({
        until: () => {
          got.roster ??= takeOffered(scene, wish);
          return got.roster !== null || queue.isShort(wish) !== short;
        },
        deadlineUs: short ? Math.min(lastUs, time.monotonicUs() + timing.agentsUs) : lastUs,
        yieldsTo: HURRY.graceful,
      });
      if (got.roster !== null) return got.roster;
      if (outcome === 'interrupted') return null;
      if (outcome === 'deadline') return short ? tooFew(scene, wish) : tooBusy(scene, wish);
    }
  } finally {
    queue.leave(wish);
  }
}

/**
 * Hands out the shares and waits for every answer.
 * @returns why the run cannot start, one sentence a reason; empty when everyone is ready or the wait
 * was given up.
 */
export async function readyAgents(scene: AssemblyScene, roster: Roster): Promise<string[]> {
  const { time, timing, waiter } = scene;
  for (const agent of roster.agents) assign(scene, agent);
  const failed = () => roster.agents.some((agent) => agent.lost !== null);
  const answered = () =>
    roster.agents.every((agent) => agent.state === 'ready' || agent.state === 'refused');
  const outcome = await waiter.wait({
    until: () => failed() || answered(),
    deadlineUs: time.monotonicUs() + timing.readyUs,
    yieldsTo: HURRY.graceful,
  });
  if (outcome === 'interrupted') return [];
  return roster.agents.flatMap((agent) => troubleOf(agent, timing.readyUs));
}

function troubleOf(agent: RunAgent, readyUs: number): string[] {
  if (agent.lost !== null) {
    return [`agent ${agent.id} was lost before the start: ${agent.lost.reason}`];
  }
  if (agent.state === 'ready') return [];
  if (agent.state !== 'refused') {
    return [`agent ${agent.id} was not ready within ${seconds(readyUs)}`];
  }
  const { host } = agent.session.facts;
  return agent.refusals.map(
    (reason) => `agent ${agent.id} on ${host} refused its share: ${reason}`,
  );
}

function tooFew({ queue, hub, timing }: AssemblyScene, wish: AgentWish): string {
  return (
    `the plan needs ${wantedText(wish)}, but ${queue.fitting(wish).length} of ` +
    `${hub.sessions().filter(({ facts }) => facts.observes !== true).length} known agents fit within ${seconds(timing.agentsUs)}`
  );
}

function tooBusy({ timing }: AssemblyScene, wish: AgentWish): string {
  return `${wantedText(wish)} were not free within ${seconds(timing.queueUs)}: other runs have them`;
}

function wantedText({ count, labels }: AgentWish): string {
  const named = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return `${count ?? 1} agents${named.length === 0 ? '' : ` with ${named.join(', ')}`}`;
}

function takeOffered(scene: AssemblyScene, wish: AgentWish): Roster | null {
  const sessions = scene.queue.offer(wish);
  return sessions === null ? null : take(scene, sessions);
}

function take(scene: AssemblyScene, sessions: readonly AgentSession[]): Roster {
  const shares = split(
    scene.plan.groups.map((group) => group.clients),
    sessions.map((session) => ({ agent: session.id, workers: session.facts.workers })),
  );
  const byAgent = new Map(shares.map((share) => [share.agent, share]));
  const agents = sessions.map((session) => {
    session.reserve({
      run: scene.id.full,
      epoch: FIRST_EPOCH,
      graceUs: scene.plan.limits.agentGraceUs,
      listener: scene.listener,
    });
    return new RunAgent(session, byAgent.get(session.id) ?? { agent: session.id, workers: [] });
  });
  return new Roster({ run: scene.id.full, agents, keep: scene.keep });
}

function assign(scene: AssemblyScene, agent: RunAgent): void {
  const own = materialFor(scene.plan, scene.material, agent.share);
  agent.session.send({
    type: 'assign',
    run: scene.id.full,
    epoch: agent.epoch,
    shortRun: scene.id.short,
    plan: scene.plan,
    share: agent.share,
    bus: scene.bus.assignment,
    secrets: { ...scene.secrets },
    files: { ...own.files },
    rows: { ...own.rows },
  });
}

function seconds(us: number): string {
  return `${us / 1_000_000} s`;
}
