import type { AgentHealth, HostFigures } from '@squall/core/control';
import type { Plan } from '@squall/core/plan';
import type { AgentSession, ReservationListener, RunMessage } from '../hub/session.ts';
import type { TimeSource } from '../time-source.ts';
import type { Acknowledger } from './acknowledger.ts';
import type { BusWatch } from './bus-watch.ts';
import type { Cut } from './cut.ts';
import type { Measurements } from './measurements.ts';
import type { Roster } from './roster.ts';
import type { RunAgent } from './run-agent.ts';
import type { RunVoice } from './run-voice.ts';
import { HURRY, type Hurry, type Waiter } from './waiter.ts';

export interface AgentWatchScene {
  readonly plan: Plan;
  readonly time: TimeSource;
  readonly busWatch: BusWatch;
  /** Null before the bus is open. */
  readonly acknowledger: () => Acknowledger | null;
  readonly waiter: Waiter;
  readonly voice: RunVoice;
  readonly roster: () => Roster;
  /** Null before T is announced. */
  readonly measurements: () => Measurements | null;
  readonly cutShort: (cut: Cut, hurry: Hurry) => void;
}

/** Hears what the agents of a run say, and sees what becomes of them. */
export class AgentWatch implements ReservationListener {
  readonly #scene: AgentWatchScene;

  constructor(scene: AgentWatchScene) {
    this.#scene = scene;
  }

  message(session: AgentSession, message: RunMessage): void {
    const agent = this.#of(session);
    if (agent !== undefined) this.#hear(agent, message);
    this.#scene.waiter.poke();
  }

  linkDown(session: AgentSession): void {
    const agent = this.#of(session);
    if (agent === undefined || agent.lost !== null) return;
    this.#scene.voice.agent(agent, 'cut off');
    this.#scene.voice.warn(`the link to agent ${agent.id} is cut; it may come back`);
  }

  linkUp(session: AgentSession): void {
    const { acknowledger, measurements, roster, voice } = this.#scene;
    const agent = this.#of(session);
    if (agent === undefined || agent.lost !== null) return;
    const started = measurements() !== null;
    voice.agent(agent, agent.finished === null ? (started ? 'active' : 'assigned') : 'done');
    roster().repeatOrders(agent);
    acknowledger()?.repeat(agent.id);
    this.#scene.waiter.poke();
  }

  silent(session: AgentSession): void {
    this.#scene.voice.warn(`nothing has been heard from agent ${session.id} for a while`);
  }

  health(session: AgentSession, health: AgentHealth, host?: HostFigures): void {
    const agent = this.#of(session);
    agent?.takeHealth(health);
    if (host !== undefined) agent?.hostRecord.take(host, this.#scene.time.monotonicUs());
    this.#scene.waiter.poke();
  }

  warning(text: string): void {
    this.#scene.voice.warn(text);
  }

  lost(session: AgentSession, reason: string): void {
    const agent = this.#of(session);
    if (agent !== undefined) this.#lose(agent, reason);
  }

  #hear(agent: RunAgent, message: RunMessage): void {
    const { voice } = this.#scene;
    switch (message.type) {
      case 'ready':
        // After a cut agents say everything again: what was ready once is perhaps active by now, and
        // the bound that counts is that of the mapping, which is made once.
        agent.clockBoundUs ??= agent.session.clock?.boundUs ?? null;
        if (this.#scene.measurements() === null) voice.agent(agent, 'ready');
        return;
      case 'refused':
        agent.refusals = message.reasons;
        voice.agent(agent, 'refused');
        if (this.#scene.measurements() !== null) {
          this.#lose(agent, `it gave up its share: ${message.reasons.join('; ')}`);
        }
        return;
      case 'started':
        agent.startSkewUs = message.skewUs;
        return;
      case 'stage_state':
        this.#hearStage(agent, message);
        return;
      case 'worker_lost':
        this.#loseWorker(agent, message.worker, message.reason);
        return;
      case 'bus_state':
        this.#scene.busWatch.state(agent.id, message);
        return;
      case 'finished':
        this.#finish(agent, message);
    }
  }

  #hearStage(agent: RunAgent, message: Extract<RunMessage, { type: 'stage_state' }>): void {
    const { cutShort, plan, roster } = this.#scene;
    roster().take(agent, message);
    const stage = plan.stages[message.stage];
    if (stage?.onIncomplete !== 'abort' || message.state === 'drained') return;
    for (const [group, clients] of Object.entries(message.failed)) {
      if (clients === 0) continue;
      const reason = `stage ${stage.name} must be complete, but ${clients} clients of ${group} failed`;
      cutShort({ cause: 'incomplete', reasons: [reason] }, HURRY.graceful);
    }
  }

  #finish(agent: RunAgent, message: Extract<RunMessage, { type: 'finished' }>): void {
    if (agent.finished !== null) return;
    agent.finished = message;
    if (this.#scene.roster().finishOrdered) this.#scene.voice.agent(agent, 'done');
    else if (agent.workersLost.length < agent.session.facts.workers) {
      this.#lose(agent, 'it left before the end of the run');
    } else this.#lose(agent, 'none of its workers is left');
  }

  #loseWorker(agent: RunAgent, worker: number, reason: string): void {
    if (agent.workersLost.some((lost) => lost.worker === worker)) return;
    agent.workersLost = [...agent.workersLost, { worker, reason }];
    this.#takeLoss(`worker ${worker} of agent ${agent.id} was lost: ${reason}`);
  }

  #lose(agent: RunAgent, reason: string): void {
    if (agent.lost !== null) return;
    const measurements = this.#scene.measurements();
    // An agent that was told to finish and has handed in everything is not needed any more.
    const handedIn = measurements?.complete(agent) ?? false;
    if (handedIn && this.#scene.roster().finishOrdered) return;
    agent.lost = { atUs: this.#scene.time.monotonicUs(), reason };
    measurements?.lost(agent);
    this.#scene.voice.agent(agent, 'lost');
    this.#takeLoss(`agent ${agent.id} was lost: ${reason}`);
    this.#scene.waiter.poke();
  }

  /** What the plan says about the loss of an agent or a worker. */
  #takeLoss(reason: string): void {
    const { cutShort, measurements, plan, roster, voice } = this.#scene;
    voice.warn(reason);
    // Before the start a loss is a matter of the assembly, which ends the run by itself.
    if (measurements() === null) return;
    const noneLeft = roster().live().length === 0;
    if (plan.limits.onAgentLoss === 'degrade' && !noneLeft) return;
    const reasons = noneLeft ? [reason, 'no agent is left'] : [reason];
    cutShort({ cause: 'agent_lost', reasons }, HURRY.graceful);
  }

  #of(session: AgentSession): RunAgent | undefined {
    return this.#scene.roster().of(session);
  }
}
