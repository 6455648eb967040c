import { z } from 'zod';
import type { GroupRows } from '../partition/group-rows.ts';
import type { AgentShare } from '../partition/partition.ts';
import type { Plan } from '../plan/plan.ts';

/**
 * What controller and agent say to each other over their WebSocket: JSON text messages, checked on
 * both sides. Binary messages on the same link are measurement frames (the link bus).
 *
 * Moments are µs of the controller's monotonic clock unless a name says `agent`. An agent maps them
 * to its own CLOCK_MONOTONIC by the offset that its clock probes give.
 *
 * A run, seen by an agent:
 *
 *   assign → ready | refused → advance(stage 0, at T) … → [stage_state prologue_done → clock at T₂]
 *   → stage_state complete (stages that end by completion) → advance(next, at T) …
 *   → advance(end) → stage_state drained → finish → finished (last sequence) → frame_ack … → release
 *
 * Frames go over the same link or over Redis, as `assign` says; `frame_ack` always comes by the link.
 *
 * Stages with `for` end by themselves at clock + for, and the agent enters the next stage (or the
 * end) at that very moment without being told. Everything else waits for `advance`.
 */
export const CONTROL_PROTOCOL = 1;

/** Longest control message, bytes. A plan with its split is far below it. */
export const MAX_CONTROL_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Longest message to an agent: a plan with its files, which are 32 MiB at most before their base64. */
export const MAX_ASSIGN_BYTES = 128 * 1024 * 1024;

const id = z.string().min(1).max(128);
const us = z.number();
const count = z.number().int().nonnegative();

const run = { run: id, epoch: z.number().int().positive() };

export const agentFacts = z.strictObject({
  id,
  host: z.string().max(256),
  pid: count,
  version: z.string().max(64),
  cores: z.number().int().positive(),
  /** Worker processes that the agent will start: its weight in the split. */
  workers: z.number().int().positive(),
  memoryBytes: count,
  /** Descriptors that one process may hold, and how many of them a worker can use for clients. */
  descriptorLimit: count,
  descriptorsFree: count,
  /** Local ports a (source address, broker address) pair has. */
  ports: count,
  /** Boot id and time namespace: equal domains share one monotonic clock. */
  clockDomain: z.string().max(256),
  labels: z.record(z.string(), z.string()),
  /** It only tells how its host fares, and takes no share of any plan. */
  observes: z.literal(true).optional(),
});
export type AgentFacts = z.infer<typeof agentFacts>;

export const agentHealth = z.strictObject({
  cpuSeconds: z.number().nonnegative(),
  rssBytes: count,
  /** Of the agent's own loop and the worst of its workers. */
  loopDelayP99Us: z.number().nonnegative(),
  outboxFrames: count,
});
export type AgentHealth = z.infer<typeof agentHealth>;

/** How the agent's host fares since the last time it was said, by the names of `HOST` in core/probes. */
const hostFigures = z.record(z.string().max(64), z.number());
export type HostFigures = z.infer<typeof hostFigures>;

/** What an agent removed of what the clients of one group left on their brokers. */
export const cleanedGroup = z.strictObject({
  group: z.string(),
  /** Retained messages: removed, and found and still there. */
  retained: count,
  retainedLeft: count,
  /** Topics that could not be looked at; null: some, and nobody can count them. */
  retainedUnknown: count.nullable(),
  /** Sessions: removed, and clients of which nobody knows. */
  sessions: count,
  sessionsUnknown: count,
  /** What failed and why, each once, and how often; 0 where there is nothing to count. */
  failures: z.array(z.strictObject({ reason: z.string().max(1024), count })).max(20),
});
export type CleanedGroup = z.infer<typeof cleanedGroup>;

export const fromAgent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    protocol: z.number().int(),
    token: z.string().max(1024),
    agent: agentFacts,
    /** Set when the link was cut in a run: the agent is still at work in it. */
    resume: z.strictObject(run).nullable(),
  }),
  z.strictObject({ type: z.literal('clock_probe'), agentSentUs: us }),
  z.strictObject({
    type: z.literal('clock_report'),
    /** When the agent took this estimate, on its own clock. */
    agentUs: us,
    /** controller µs = agent µs + offset, off by at most the bound. */
    offsetUs: us,
    boundUs: us,
    rttUs: us,
  }),
  z.strictObject({
    type: z.literal('heartbeat'),
    health: agentHealth,
    /** Every few heartbeats only: reading it costs time. */
    host: hostFigures.optional(),
  }),
  z.strictObject({ type: z.literal('ready'), ...run }),
  z.strictObject({ type: z.literal('refused'), ...run, reasons: z.array(z.string()).min(1) }),
  z.strictObject({
    type: z.literal('stage_state'),
    ...run,
    stage: count,
    /**
     * `prologue_done`: every client that the stage needs is connected and subscribed, or failed.
     * `complete`: the stage's activities are done. `drained`: nothing is in flight after the end.
     */
    state: z.enum(['prologue_done', 'complete', 'drained']),
    /** Clients that finally failed in it, a group: for `onIncomplete`. */
    failed: z.record(z.string(), count),
  }),
  z.strictObject({
    type: z.literal('started'),
    ...run,
    /** How late after T the first stage really began, the worst worker. */
    skewUs: us,
  }),
  z.strictObject({
    type: z.literal('worker_lost'),
    ...run,
    worker: count,
    reason: z.string().max(1024),
  }),
  /**
   * How the agent's end of the bus fares, said at each change and again on each new link. Only where
   * the frames go another way than the link itself. All figures are totals of the run.
   */
  z.strictObject({
    type: z.literal('bus_state'),
    ...run,
    /** Why frames cannot be sent now; null while they can. */
    trouble: z.string().max(1024).nullable(),
    interruptions: count,
    interruptedUs: z.number().nonnegative(),
    /** Frames that the bus had taken, lost, and was sent again. */
    lostFrames: count,
  }),
  z.strictObject({
    type: z.literal('finished'),
    ...run,
    lastSeq: count,
    cpuSeconds: z.number().nonnegative(),
    rssBytesMax: count,
    /** What it removed from the brokers; left out where the plan wants nothing removed. */
    cleaned: z.array(cleanedGroup).optional(),
  }),
]);
export type FromAgent = z.infer<typeof fromAgent>;

/** They come from the controller's own, already read file. */
const groupRows = z.custom<GroupRows>((value) => typeof value === 'object' && value !== null);

export const fromController = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('welcome'),
    controller: z.string(),
    heartbeatUs: us,
    /** The agent's id as the controller knows it (a taken id gets a suffix). */
    agent: id,
  }),
  /** Sent before the link is closed: wrong token, other protocol version, run is over. */
  z.strictObject({
    type: z.literal('rejected'),
    code: z.enum(['token', 'protocol', 'unknown_run', 'id']),
    message: z.string(),
  }),
  z.strictObject({
    type: z.literal('clock_answer'),
    agentSentUs: us,
    controllerReceivedUs: us,
    controllerSentUs: us,
  }),
  z.strictObject({
    type: z.literal('assign'),
    ...run,
    /** Short form for `{{run}}` and client ids. */
    shortRun: z.string().min(1).max(16),
    /** Plan and share come from the controller's own, already checked form. */
    plan: z.custom<Plan>((value) => typeof value === 'object' && value !== null),
    share: z.custom<AgentShare>((value) => typeof value === 'object' && value !== null),
    /** How the frames travel. An address may hold a password: it is never printed. */
    bus: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('link') }),
      z.strictObject({ kind: z.literal('redis'), url: z.string().max(2048) }),
    ]),
    /** Values of `{{env.X}}`, kept out of the plan so that it can be printed. */
    secrets: z.record(z.string(), z.string()),
    /** Contents of the files that the plan names, base64; left out where it names none. */
    files: z.record(z.string(), z.string()).optional(),
    /** Rows of CSV files, of the agent's own clients, by the group's name; left out where there are none. */
    rows: z.record(z.string(), groupRows).optional(),
  }),
  z.strictObject({
    type: z.literal('advance'),
    ...run,
    /** The stage to enter at `at`; the number of stages means the end of the load. */
    stage: count,
    at: us,
  }),
  z.strictObject({ type: z.literal('clock'), ...run, stage: count, at: us }),
  /**
   * How the clocks of all hosts in the run relate at `at`, said before the start and again and again:
   * deliveries from hosts with other clocks are timed by it. Never said where there is one clock.
   */
  z.strictObject({
    type: z.literal('clocks'),
    ...run,
    at: us,
    domains: z.array(
      z.strictObject({
        /** `clockDomainHash` of the agents' clock domain, as stamps name it. */
        domain: count,
        /** controller µs = µs of the domain + offset, off by at most the bound. */
        offsetUs: us,
        boundUs: z.number().nonnegative(),
      }),
    ),
  }),
  /** The last step of a run: disconnect, report the last frame, say `finished`. */
  z.strictObject({ type: z.literal('finish'), ...run }),
  /** Ends the load now. `graceful`: as `advance` to the end, at once. `hard`: cut connections. */
  z.strictObject({ type: z.literal('stop'), ...run, mode: z.enum(['graceful', 'hard']) }),
  z.strictObject({ type: z.literal('frame_ack'), ...run, seq: count }),
  /** Frames are missing in the row: all that no checkpoint has goes again. */
  z.strictObject({ type: z.literal('frame_resend'), ...run }),
  z.strictObject({ type: z.literal('release'), ...run }),
]);
export type FromController = z.infer<typeof fromController>;
