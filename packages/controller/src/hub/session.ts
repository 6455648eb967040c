import type {
  AgentFacts,
  AgentHealth,
  FromAgent,
  FromController,
  HostFigures,
} from '@squall/core/control';
import {
  HEARTBEAT_US,
  HOST_STALE_US,
  IDLE_GRACE_US,
  SILENCE_WARNING_US,
  STALL_US,
} from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import type { Link } from './link.ts';

/** How an agent's clock relates to ours: controller µs = agent µs + offset, off by at most the bound. */
export interface ClockEstimate {
  /** When the agent took it, on its own clock. */
  readonly agentUs: number;
  readonly offsetUs: number;
  readonly boundUs: number;
  readonly rttUs: number;
}

/** What an agent says in a run. */
export type RunMessage = Extract<FromAgent, { run: string }>;

/** A run's hold on an agent. While it lasts, no other run can have the agent. */
export interface Reservation {
  readonly run: string;
  readonly epoch: number;
  /** How long the agent is waited for, from the last heartbeat or from the cut of its link. */
  readonly graceUs: number;
  readonly listener: ReservationListener;
}

export interface ReservationListener {
  message(session: AgentSession, message: RunMessage): void;
  /** The link broke; the agent has its grace to come back with `resume`. */
  linkDown(session: AgentSession): void;
  /** It came back, and may have missed what was sent meanwhile. */
  linkUp(session: AgentSession): void;
  /** Nothing was heard for a while, though the link stands. */
  silent(session: AgentSession): void;
  lost(session: AgentSession, reason: string): void;
  /** `host`: how its host fares, where that was said. */
  health(session: AgentSession, health: AgentHealth, host?: HostFigures): void;
  warning(text: string): void;
}

export interface SessionOwner {
  frame(session: AgentSession, bytes: Uint8Array): void;
  /** The session is over: cut off without a run, or lost. */
  gone(session: AgentSession, reason: string): void;
  changed(): void;
}

export interface SessionOptions {
  readonly id: string;
  readonly facts: AgentFacts;
  readonly time: TimeSource;
  readonly owner: SessionOwner;
}

/** One agent, over as many links as it takes. */
export class AgentSession {
  readonly id: string;
  readonly facts: AgentFacts;
  readonly #time: TimeSource;
  readonly #owner: SessionOwner;
  #link: Link | null = null;
  #clock: ClockEstimate | null = null;
  #health: AgentHealth | null = null;
  #host: { readonly figures: HostFigures; readonly atUs: number } | null = null;
  #reservation: Reservation | null = null;
  #lastHeardUs: number;
  #silenceTold = false;
  #over = false;
  #stopWatch: () => void = () => {};

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.facts = options.facts;
    this.#time = options.time;
    this.#owner = options.owner;
    this.#lastHeardUs = options.time.monotonicUs();
  }

  get connected(): boolean {
    return this.#link?.open ?? false;
  }

  get clock(): ClockEstimate | null {
    return this.#clock;
  }

  get health(): AgentHealth | null {
    return this.#health;
  }

  /** How its host fares; null: it never said, or not lately. */
  get hostFigures(): HostFigures | null {
    const host = this.#host;
    if (host === null || !this.connected) return null;
    return this.#time.monotonicUs() - host.atUs <= HOST_STALE_US ? host.figures : null;
  }

  get run(): string | null {
    return this.#reservation?.run ?? null;
  }

  get idle(): boolean {
    return this.connected && this.#reservation === null;
  }

  /** Whether `resume` speaks of the run that this session serves. */
  serves(resume: { run: string; epoch: number }): boolean {
    return this.#reservation?.run === resume.run && this.#reservation.epoch === resume.epoch;
  }

  /** Whether the agent was heard lately over a link that stands. */
  get lively(): boolean {
    return this.connected && this.#time.monotonicUs() - this.#lastHeardUs < SILENCE_WARNING_US;
  }

  attach(link: Link): void {
    const old = this.#link;
    this.#link = link;
    this.#heard();
    link.handTo({
      message: (message) => this.#receive(link, message),
      frame: (bytes) => {
        this.#heard();
        this.#owner.frame(this, bytes);
      },
      bad: (reason) => this.#reservation?.listener.warning(`agent ${this.id} sent ${reason}`),
      closed: () => this.#linkClosed(link),
    });
    old?.terminate();
    link.send({
      type: 'welcome',
      controller: 'squall',
      heartbeatUs: HEARTBEAT_US,
      agent: this.id,
    });
    this.#watch();
    // Whoever joins anew has no run yet.
    this.#reservation?.listener.linkUp(this);
    this.#owner.changed();
  }

  reserve(reservation: Reservation): void {
    this.#reservation = reservation;
    // Another grace counts from now on.
    this.#watch();
    this.#owner.changed();
  }

  /** Ends the reservation. An agent whose link is cut has nothing to come back to any more. */
  release(): void {
    const held = this.#reservation;
    this.#reservation = null;
    if (held !== null) this.send({ type: 'release', run: held.run, epoch: held.epoch });
    if (!this.#over && !this.connected) this.end('its link was cut when its run ended');
    this.#owner.changed();
  }

  send(message: FromController): boolean {
    return this.#link?.send(message) ?? false;
  }

  /** Counts something that came over the link and turned out later to be no good. */
  countBad(reason: string): void {
    this.#link?.countBad(reason);
  }

  /** The controller closes: nothing is awaited or told any more. */
  retire(): void {
    this.#over = true;
    this.#reservation = null;
    this.#stopWatch();
  }

  /** Ends the session for good; a run that has the agent is told. */
  end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWatch();
    this.#link?.terminate();
    this.#link = null;
    const reservation = this.#reservation;
    this.#reservation = null;
    this.#owner.gone(this, reason);
    reservation?.listener.lost(this, reason);
  }

  #receive(link: Link, message: FromAgent): void {
    this.#heard();
    switch (message.type) {
      case 'hello':
        link.countBad('a second hello');
        return;
      case 'clock_probe':
        return;
      case 'clock_report':
        this.#clock = {
          agentUs: message.agentUs,
          offsetUs: message.offsetUs,
          boundUs: message.boundUs,
          rttUs: message.rttUs,
        };
        this.#owner.changed();
        return;
      case 'heartbeat':
        this.#beat(message);
        return;
      case 'ready':
      case 'refused':
      case 'stage_state':
      case 'started':
      case 'worker_lost':
      case 'bus_state':
      case 'finished':
        // What still arrives about a run that is over is late, not wrong.
        if (this.serves(message)) this.#reservation?.listener.message(this, message);
    }
  }

  #beat({ health, host }: Extract<FromAgent, { type: 'heartbeat' }>): void {
    this.#health = health;
    if (host !== undefined) this.#host = { figures: host, atUs: this.#time.monotonicUs() };
    this.#reservation?.listener.health(this, health, host);
  }

  #linkClosed(link: Link): void {
    if (this.#link !== link || this.#over) return;
    // The grace of a cut link counts from the cut.
    this.#heard();
    if (this.#reservation === null) {
      this.end('its link was closed');
      return;
    }
    this.#watch();
    this.#reservation.listener.linkDown(this);
    this.#owner.changed();
  }

  #heard(): void {
    this.#lastHeardUs = this.#time.monotonicUs();
    this.#silenceTold = false;
  }

  get #graceUs(): number {
    return this.#reservation?.graceUs ?? IDLE_GRACE_US;
  }

  /** Arms the timer for the next moment at which silence would mean something. */
  #watch(): void {
    this.#stopWatch();
    if (this.#over) return;
    const warnUs = this.#silenceTold ? Number.POSITIVE_INFINITY : SILENCE_WARNING_US;
    const dueUs = this.#lastHeardUs + Math.min(this.#graceUs, warnUs);
    const delayUs = Math.max(0, dueUs - this.#time.monotonicUs());
    this.#stopWatch = this.#time.after(delayUs, () => this.#look(dueUs));
  }

  #look(dueUs: number): void {
    const nowUs = this.#time.monotonicUs();
    if (nowUs - dueUs > STALL_US) {
      // We stood still ourselves: read the sockets first, judge one heartbeat later.
      this.#stopWatch = this.#time.after(HEARTBEAT_US, () => this.#watch());
      return;
    }
    const silentUs = nowUs - this.#lastHeardUs;
    if (silentUs >= this.#graceUs) {
      this.end(
        this.connected
          ? `it was silent for ${Math.round(silentUs / 1_000_000)} s`
          : `its link was cut and it did not come back within ${Math.round(silentUs / 1_000_000)} s`,
      );
      return;
    }
    if (silentUs >= SILENCE_WARNING_US && !this.#silenceTold) {
      this.#silenceTold = true;
      this.#reservation?.listener.silent(this);
    }
    this.#watch();
  }
}
