import { aggregateState, generatorState, judgeState } from '@squall/core/checkpoint';
import { agentFacts } from '@squall/core/control';
import type { AgentShare } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { z } from 'zod';
import type { SavedProbes } from '../probes/run-probes.ts';
import type { AgentPage } from '../run-ledger.ts';

/** Changes with every change of what a checkpoint says. One of another version is not taken up. */
export const SAVED_RUN_VERSION = 2;

const id = z.string().min(1).max(128);
const us = z.number();
const count = z.number().int().nonnegative();
const seq = z.number().int().positive();
const text = z.string();

const savedCut = z.strictObject({
  cause: z.enum([
    'stopped',
    'agent_lost',
    'max_duration',
    'incomplete',
    'threshold',
    'agents',
    'error',
  ]),
  reasons: z.array(text),
  by: z.enum(['signal', 'api']).exactOptional(),
});

const savedAgent = z.strictObject({
  id,
  facts: agentFacts,
  epoch: seq,
  share: z.custom<AgentShare>((value) => typeof value === 'object' && value !== null),
  /** What it has said of itself, and what became of it. */
  told: z.strictObject({
    state: z.enum(['assigned', 'ready', 'refused', 'active', 'cut off', 'lost', 'done']),
    refusals: z.array(text),
    startSkewUs: us.nullable(),
    clockBoundUs: us.nullable(),
    lost: z.strictObject({ atUs: us, reason: text }).nullable(),
    workersLost: z.array(z.strictObject({ worker: count, reason: text })),
    finished: z.strictObject({ lastSeq: count, cpuSeconds: us, rssBytesMax: count }).nullable(),
    cpuSeconds: us.nullable(),
    rssBytesMax: us.nullable(),
    loopDelayP99Us: us.nullable(),
  }),
});
export type SavedAgent = z.infer<typeof savedAgent>;

const savedOrder = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('advance'), stage: count, at: us }),
  z.strictObject({ type: z.literal('clock'), stage: count, at: us }),
  z.strictObject({ type: z.literal('finish') }),
  z.strictObject({ type: z.literal('stop'), mode: z.enum(['graceful', 'hard']) }),
]);

const savedOrders = z.strictObject({
  /** In the order of giving. */
  standing: z.array(savedOrder),
  /** What agents have reached, by the name of it. */
  reports: z.array(z.tuple([text, z.array(id)])),
});
export type SavedOrders = z.infer<typeof savedOrders>;

const stageEnd = z.enum([
  'complete',
  'duration',
  'condition',
  'deadline',
  'agent_lost',
  'aborted',
  'stopped',
]);

const savedStage = z.strictObject({
  stage: count,
  enteredUs: us,
  clockAtUs: us.nullable(),
  clockUs: us.nullable(),
  leaving: z.strictObject({ atUs: us, endedBy: stageEnd }).nullable(),
  endUs: us.nullable(),
  endedBy: stageEnd.nullable(),
});
export type SavedStage = z.infer<typeof savedStage>;

const savedBusWatch = z.strictObject({
  interruptions: count,
  interruptedUs: us,
  reason: text.nullable(),
  gaps: count,
  memory: z.array(text),
  long: z.array(z.tuple([id, count])),
  states: z.array(
    z.tuple([
      id,
      z.strictObject({
        trouble: text.nullable(),
        interruptions: count,
        interruptedUs: us,
        lostFrames: count,
      }),
    ]),
  ),
});
export type SavedBusWatch = z.infer<typeof savedBusWatch>;

const savedMeasurements = z.strictObject({
  aggregate: aggregateState,
  judge: judgeState,
  generator: generatorState,
});
export type SavedMeasurements = z.infer<typeof savedMeasurements>;

/**
 * A run from the announcement of T on, with everything that its next controller has to know. Moments
 * are µs of the controller's monotonic clock, which goes on in the same clock domain. The values of
 * `{{env.X}}` are not in it: the agents have them.
 */
export const savedRun = z.strictObject({
  version: z.literal(SAVED_RUN_VERSION),
  clockDomain: text,
  savedUs: us,
  savedUtcMs: us,
  id: z.strictObject({ full: id, short: id }),
  plan: z.custom<Plan>((value) => typeof value === 'object' && value !== null),
  options: z.strictObject({
    version: text,
    labels: z.record(text, text),
    strict: z.boolean(),
    timeout: z.boolean(),
    scale: z.number(),
    scaled: z.array(z.strictObject({ path: text, from: text, to: text })),
  }),
  submittedUs: us,
  submittedUtcMs: us,
  /** T. */
  startUs: us,
  /** End of the load, and of the whole run: everything is handed in. Null before it. */
  loadEndUs: us.nullable(),
  overUs: us.nullable(),
  cut: savedCut.nullable(),
  hurry: z.literal([0, 1, 2, 3]),
  warnings: z.array(text),
  busWatch: savedBusWatch,
  /** In the order of the split. */
  agents: z.array(savedAgent),
  orders: savedOrders,
  stages: z.array(savedStage),
  measured: savedMeasurements,
  probes: z.custom<SavedProbes>((value) => typeof value === 'object' && value !== null),
});
/** `pages`: those of the delivery ledger, which lie beside the state in the store. */
export type SavedRun = z.infer<typeof savedRun> & { readonly pages?: readonly AgentPage[] };
