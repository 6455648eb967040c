import { type ClockEstimate, ClockEstimator } from '@squall/core/clock';
import type { FromController } from '@squall/core/control';
import type { AgentLimits } from './limits.ts';
import type { Link } from './link.ts';
import { monotonicUs } from './monotonic.ts';

export type ClockAnswer = Extract<FromController, { type: 'clock_answer' }>;

/**
 * Keeps the agent's clock mapped to the controller's: a burst of probes when a link is new and when a
 * run is assigned, then a few each second in a run and one every few seconds without. Each burst that
 * was answered is reported.
 */
export class ClockKeeper {
  readonly #link: Pick<Link, 'send' | 'isUp'>;
  readonly #limits: AgentLimits;
  readonly #estimator = new ClockEstimator();
  readonly #waiters = new Set<() => void>();
  #inRun = false;
  #toSend = 0;
  #unanswered = 0;
  #sendTimer: NodeJS.Timeout | undefined;
  #paceTimer: NodeJS.Timeout | undefined;

  constructor(link: Pick<Link, 'send' | 'isUp'>, limits: AgentLimits) {
    this.#link = link;
    this.#limits = limits;
  }

  /** controller µs = agent µs + offset, by the best probe so far; null before the first answer. */
  estimate(): ClockEstimate | null {
    return this.#estimator.estimate(monotonicUs());
  }

  linkUp(): void {
    this.#burst(this.#limits.burstProbes);
    this.#keepPace();
  }

  linkDown(): void {
    clearTimeout(this.#sendTimer);
    clearInterval(this.#paceTimer);
    this.#toSend = 0;
    this.#unanswered = 0;
  }

  /** In a run the clock is watched closely, without one it costs next to nothing. */
  setInRun(inRun: boolean): void {
    this.#inRun = inRun;
    if (this.#link.isUp) this.#keepPace();
  }

  /** A fresh burst. False when the deadline passed and no probe was ever answered. */
  synchronise(deadlineUs: number): Promise<boolean> {
    this.#burst(this.#limits.burstProbes);
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve(this.estimate() !== null);
      };
      const timer = setTimeout(done, deadlineUs / 1000);
      this.#waiters.add(done);
    });
  }

  answered(answer: ClockAnswer, agentReceivedUs: number): void {
    this.#estimator.add({
      agentSentUs: answer.agentSentUs,
      controllerReceivedUs: answer.controllerReceivedUs,
      controllerSentUs: answer.controllerSentUs,
      agentReceivedUs,
    });
    this.#unanswered = Math.max(0, this.#unanswered - 1);
    if (this.#unanswered > 0 || this.#toSend > 0) return;
    const agentUs = monotonicUs();
    const estimate = this.#estimator.estimate(agentUs);
    if (estimate !== null) this.#link.send({ type: 'clock_report', agentUs, ...estimate });
    for (const waiter of this.#waiters) waiter();
  }

  close(): void {
    this.linkDown();
    for (const waiter of this.#waiters) waiter();
  }

  #keepPace(): void {
    clearInterval(this.#paceTimer);
    const { runProbeIntervalUs, idleProbeIntervalUs, runProbes } = this.#limits;
    const intervalUs = this.#inRun ? runProbeIntervalUs : idleProbeIntervalUs;
    const probes = this.#inRun ? runProbes : 1;
    this.#paceTimer = setInterval(() => this.#burst(probes), intervalUs / 1000);
  }

  #burst(probes: number): void {
    clearTimeout(this.#sendTimer);
    this.#toSend = Math.max(this.#toSend, probes);
    this.#sendNext();
  }

  /** Spaced, so that one moment of bad luck on the way does not spoil them all. */
  #sendNext(): void {
    if (this.#toSend === 0 || !this.#link.isUp) return;
    this.#toSend--;
    this.#unanswered++;
    this.#link.send({ type: 'clock_probe', agentSentUs: monotonicUs() });
    if (this.#toSend === 0) return;
    this.#sendTimer = setTimeout(() => this.#sendNext(), this.#limits.probeSpacingUs / 1000);
  }
}
