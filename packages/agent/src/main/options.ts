import type { AgentHealth } from '@squall/core/control';
import type { AgentLimits } from './limits.ts';

/** What an agent is started with. */
export interface AgentOptions {
  /** Address of the controller, `ws://host:port`. */
  readonly controller: string;
  /** The controller's join token; empty where it wants none. */
  readonly token: string;
  /** Unique name in the fleet, 1–100 characters. Default: host and process id. */
  readonly id?: string;
  /** Worker processes, the agent's weight in the split. Default: one a core. */
  readonly workers?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Makes no load and takes no share of a plan: it only tells how its host fares. */
  readonly observe?: boolean;
  readonly logger?: AgentLogger;
  /**
   * What to do when the controller stayed away too long (in a run: past the plan's
   * `limits.agentGrace`; the load is stopped in any case): look for it on and on, or end.
   * Default: `wait`.
   */
  readonly whenControllerIsGone?: 'wait' | 'exit';
  /** Path of the program that a worker runs. Default: this package's own. */
  readonly workerEntry?: string;
  /** Other deadlines than the usual ones, for tests. */
  readonly limits?: Partial<AgentLimits>;
}

/** A running agent. */
export interface AgentHandle {
  /**
   * Resolves when the agent has left (after `stop`, or because its controller is gone and it was told
   * to exit then). Rejects with a SquallError when it can never work: SQ_TOKEN, SQ_CONTROL.
   */
  readonly closed: Promise<void>;
  /**
   * Drains: in a run the load is ended gracefully, what was measured is delivered, then the agent
   * leaves. A second call cuts that short. Resolves when the agent has left.
   */
  stop(): Promise<void>;
  /** How it is at this moment. */
  status(): AgentStatus;
}

/** What an agent tells of itself to those who watch over it. */
export interface AgentStatus {
  /** As the controller knows it. */
  readonly id: string;
  readonly version: string;
  readonly linkUp: boolean;
  /** The run that it serves. */
  readonly run: string | null;
  /** Worker processes that live. */
  readonly workers: number;
  /** As of the last heartbeat; null before the first. */
  readonly health: AgentHealth | null;
  /** Why it could not carry the share that it was given last; null: it could, or has had none. */
  readonly refusal: string | null;
  /** Shares refused since it was started. */
  readonly refusals: number;
}

/** Where an agent says what a person who watches it should know. */
export interface AgentLogger {
  info(message: string): void;
  warn(message: string): void;
}

export const SILENT: AgentLogger = { info: () => undefined, warn: () => undefined };
