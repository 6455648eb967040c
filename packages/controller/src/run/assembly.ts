import type { RunBus } from '@squall/core/bus';
import { split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import type { AgentHub } from '../hub/hub.ts';
import type { AgentSession, ReservationListener } from '../hub/session.ts';
import type { RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import { Roster } from './roster.ts';
import { FIRST_EPOCH, RunAgent } from './run-agent.ts';
import type { RunId } from './run-id.ts';
import { HURRY, type Waiter } from './waiter.ts';

export interface AssemblyScene {
  readonly id: RunId;
  readonly plan: Plan;
  readonly secrets: Readonly<Record<string, string>>;
  readonly hub: AgentHub;
  readonly bus: RunBus;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly waiter: Waiter;
  readonly listener: ReservationListener;
}

/**
 * Waits until the agents that the plan asks for are there and free, and takes them. A plan that
 * names no number takes all that are free as soon as there is one.
 * @returns the agents, or why there are not enough; null when the wait was given up.
 */
export async function gatherAgents(scene: AssemblyScene): Promise<Roster | string | null> {
  const { plan, time, timing, waiter } = scene;
  const wanted = plan.limits.agents.count;
  const deadlineUs = time.monotonicUs() + timing.agentsUs;
  const free = () => scene.hub.sessions().filter((session) => fits(session, plan));
  for (;;) {
    const outcome = await waiter.wait({
      until: () => free().length >= (wanted ?? 1),
      deadlineUs,
      yieldsTo: HURRY.graceful,
    });
    if (outcome === 'interrupted') return null;
    // Another run may have been quicker: what counts is who is free at this very moment.
    const sessions = free();
    if (sessions.length >= (wanted ?? 1))
      return take(scene, sessions.slice(0, wanted ?? undefined));
    if (outcome === 'deadline') return tooFew(scene, sessions.length);
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
  return agent.refusals.map((reason) => `agent ${agent.id} refused its share: ${reason}`);
}

function fits(session: AgentSession, plan: Plan): boolean {
  // Without a clock estimate an agent could not start at T.
  if (!session.idle || session.clock === null) return false;
  return Object.entries(plan.limits.agents.labels).every(
    ([key, value]) => session.facts.labels[key] === value,
  );
}

function tooFew(scene: AssemblyScene, free: number): string {
  const { count, labels } = scene.plan.limits.agents;
  const named = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const withLabels = named.length === 0 ? '' : ` with ${named.join(', ')}`;
  const known = scene.hub.sessions().length;
  return (
    `the plan needs ${count ?? 1} agents${withLabels}, but ${free} of ${known} known agents were ` +
    `free and fit within ${seconds(scene.timing.agentsUs)}`
  );
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
  return new Roster(scene.id.full, agents);
}

function assign(scene: AssemblyScene, agent: RunAgent): void {
  agent.session.send({
    type: 'assign',
    run: scene.id.full,
    epoch: agent.epoch,
    shortRun: scene.id.short,
    plan: scene.plan,
    share: agent.share,
    bus: scene.bus.assignment,
    secrets: { ...scene.secrets },
  });
}

function seconds(us: number): string {
  return `${us / 1_000_000} s`;
}
