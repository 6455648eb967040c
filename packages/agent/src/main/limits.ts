/**
 * Every deadline, interval and bound of the agent's main process. No state waits without one of them.
 */
export const LIMITS = {
  /** From the TCP connect to the controller's `welcome`. */
  linkOpenUs: 10_000_000,
  /** From our close frame to the end of the connection, answered or not. */
  linkCloseUs: 500_000,
  /** Back-off between attempts to reach the controller; doubled from the first to the second. */
  reconnectMinUs: 100_000,
  reconnectMaxUs: 3_000_000,
  /** A link on which nothing arrived for so long is dead: probes are answered every 5 s even idle. */
  linkSilenceUs: 20_000_000,
  /** With `whenControllerIsGone: 'exit'`: how long an agent without a run looks for its controller. */
  idleGoneUs: 15_000_000,

  /** Probes of a burst at the start of a link and of a run, where the mapping is made. */
  burstProbes: 40,
  /** Each second while in a run: enough for a good one in a minute, and cheap beside five agents. */
  runProbes: 2,
  /** Between two probes of a burst. */
  probeSpacingUs: 5_000,
  runProbeIntervalUs: 1_000_000,
  idleProbeIntervalUs: 5_000_000,
  /** How long `ready` waits for the answers of the burst. */
  clockReadyUs: 10_000_000,

  /** From fork to the worker's `hello`. Generous: many workers may start on few cores. */
  workerHelloUs: 30_000_000,
  /** From `init` to `ready`. */
  workerReadyUs: 60_000_000,
  /** From `ready` to the first `advance`: the slowest agent of the fleet is waited for. */
  startUs: 300_000_000,
  /** Added to all that a plan may take at most: a run that is longer has lost its controller's rule. */
  runMarginUs: 120_000_000,
  /** A worker that sends no slice for so long in a run is as good as dead. */
  workerSilenceUs: 20_000_000,
  workerWatchUs: 1_000_000,
  /** From `finish` to every worker's `finished`: DISCONNECT of all clients. */
  workerFinishUs: 30_000_000,
  /** From then on, until the bus has taken all pages of the workers' ledgers. */
  ledgerUs: 60_000_000,
  /** Frames in the outbox beyond which pages of the ledger wait. */
  ledgerFrames: 32,
  /** After the plan's `cleanup.max`: what is under way then comes to its end. */
  cleanupMarginUs: 15_000_000,
  /** From the end of a worker's work, or from SIGTERM, to SIGKILL. */
  workerExitUs: 3_000_000,
  /** Added to the plan's drain when the agent leaves a run on its own. */
  leaveMarginUs: 5_000_000,
  /** Of an agent that goes before it is asked to: how long its last frames are acknowledged. */
  deliverUs: 5_000_000,
  /** From `finished` to `release`: all frames delivered and acknowledged. */
  releaseUs: 60_000_000,

  /** A batch that could not be sent is offered again so soon; a new link offers it at once. */
  sendRetryUs: 500_000,
  /** A slice waits so long for the last worker, then it goes out without it. */
  sliceWaitUs: 1_500_000,
  /** Slices that are collected at once; beyond it the oldest goes out as it is. */
  openSlices: 64,
  /** Bytes of a worker's standard error that are kept for the reason of its end. */
  stderrTailBytes: 2_048,

  /** Descriptors of a worker that are not clients: standard streams, IPC, event loop, files. */
  workerDescriptors: 64,
  /** Rough need of a worker process and of a connected client, for the check of memory. */
  workerMemoryBytes: 96 * 1024 * 1024,
  clientMemoryBytes: 8 * 1024,
  /** With TLS; 38 to 45 KiB in measurements, the latter with a session to resume. */
  tlsClientMemoryBytes: 48 * 1024,
} as const;

/** The same, replaceable: tests shorten the waits, nothing else does. */
export type AgentLimits = { readonly [K in keyof typeof LIMITS]: number };
