/** Every queue, wait and message of the controller ends by one of these. */

/** From the TCP connection to `hello`. */
export const HELLO_TIMEOUT_US = 5_000_000;

/** Connections that have not said `hello` yet; more are turned away at once. */
export const MAX_PENDING_LINKS = 256;

/** Agents known at a time. */
export const MAX_AGENTS = 4_096;

/** Messages that cannot be understood before the link is closed. */
export const MAX_BAD_MESSAGES = 10;

/** Bytes waiting in one link's socket; an agent that does not read is cut off beyond it. */
export const MAX_LINK_BACKLOG_BYTES = 64 * 1024 * 1024;

/** Interval that agents are asked to send heartbeats at. */
export const HEARTBEAT_US = 1_000_000;
/** What an agent said of its host, every five seconds, holds so long. */
export const HOST_STALE_US = 16_000_000;

/** How long a silent or cut-off agent is remembered while it serves no run. */
export const IDLE_GRACE_US = 15_000_000;

/** An agent that was not heard for this long is called silent (a warning, not a loss). */
export const SILENCE_WARNING_US = 5_000_000;

/**
 * A timer that fires this late shows that the controller itself stood still; what agents sent in
 * the meantime lies unread in the sockets, so silence proves nothing yet.
 */
export const STALL_US = 500_000;

/** How long agents may take to close their links when the controller closes. */
export const GOODBYE_US = 1_000_000;

/** Suffixes tried for an agent id that is taken. */
export const MAX_ID_SUFFIX = 999;

/** After T, until agents that have heard of it have said that they began. */
export const START_REPORT_US = 1_500_000;

/** Beyond their grace, how long a run that was taken up waits for its agents. */
export const BACK_MARGIN_US = 5_000_000;

/** Between two attempts of a run that was taken up to reach a bus that is down. */
export const BUS_RETRY_US = 500_000;

/** Beyond the plan's `cleanup.max`: what is under way then comes to its end. */
export const CLEANUP_MARGIN_US = 20_000_000;

/** Warnings of a run that its report keeps; later ones are only told. */
export const MAX_WARNINGS = 200;

/** The waits of a run. Tests shorten them; nothing else does. */
export interface RunTiming {
  /** Agents that the plan needs must have joined by then. */
  readonly agentsUs: number;
  /** Agents that are there, but in use by other runs, must be free by then. */
  readonly queueUs: number;
  /** Every agent must have answered `assign` by then. */
  readonly readyUs: number;
  /** A moment is announced at least this long before it comes. */
  readonly leadUs: number;
  /** Announced moments lie on this grid, counted from the stage's clock. */
  readonly gridUs: number;
  /** Beyond a group's planned ramp, for the prologue of a stage with `for`. */
  readonly prologueMarginUs: number;
  /** Beyond `drainUs`, for every agent's `drained`. */
  readonly drainMarginUs: number;
  /** How much longer is waited when all that was expected has arrived, unless the plan says less. */
  readonly lingerUs: number;
  /**
   * From `finish` to every agent's `finished`: its clients disconnect (30 s at most), then the bus
   * takes all but the last pages of its ledger (60 s at most).
   */
  readonly finishUs: number;
  /** From the last `finished` to the last frame, with what is left of the ledger. */
  readonly collectUs: number;
  /** For `finished` and the last frames together after a hard stop. */
  readonly hardStopUs: number;
  /** How long a window waits for agents that have not reported it. */
  readonly watermarkUs: number;
  /** From the end of one checkpoint to the next: while there is load, and when all is handed in. */
  readonly checkpointUs: number;
  readonly lastCheckpointsUs: number;
}

export const RUN_TIMING: RunTiming = {
  agentsUs: 60_000_000,
  queueUs: 24 * 3_600_000_000,
  readyUs: 60_000_000,
  leadUs: 2_000_000,
  gridUs: 1_000_000,
  prologueMarginUs: 60_000_000,
  drainMarginUs: 10_000_000,
  lingerUs: 1_000_000,
  finishUs: 120_000_000,
  collectUs: 30_000_000,
  hardStopUs: 5_000_000,
  watermarkUs: 3_000_000,
  checkpointUs: 3_000_000,
  lastCheckpointsUs: 500_000,
};
