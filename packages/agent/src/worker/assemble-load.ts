import { WorkerLedger } from '@squall/core/ledger/worker';
import type { Slice } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import { runHash } from '@squall/core/stamp';
import type { MqttClients, MqttClientsOptions } from '@squall/mqtt';
import { clientOrder } from './clients/client-order.ts';
import type { PeerClocks } from './clients/peer-clocks.ts';
import type { Moment } from './clock.ts';
import { Engine } from './engine/engine.ts';
import type { FromWorker, ToWorker } from './ipc.ts';
import type { GroupLoad } from './load/group-load.ts';
import type { GroupServices } from './load/group-services.ts';
import { MqttLoad } from './load/mqtt-load.ts';
import { RocketmqLoad } from './rocketmq/rocketmq-load.ts';
import { type CreateRocketmq, RocketmqClients } from './rocketmq/rocketmq-clients.ts';
import { Recorder } from './measure/recorder.ts';
import { PlanFiles } from './plan-files.ts';
import { RenderContext } from './publish/render-context.ts';

type Init = Extract<ToWorker, { type: 'init' }>;
type StageState = Extract<FromWorker, { type: 'stage_state' }>;

export interface LoadServices {
  readonly moment: Moment;
  /** Clocks of other hosts. */
  readonly peers: PeerClocks;
  readonly createClients: (options: MqttClientsOptions) => MqttClients;
  readonly createRocketmq: CreateRocketmq;
  readonly reports: {
    started(skewUs: number): void;
    stageState(stage: number, state: StageState['state'], failed: StageState['failed']): void;
    slice(slice: Slice): void;
  };
  /** Something happened that the next tick should not wait for. */
  wake(): void;
}

export interface AssembledLoad {
  readonly engine: Engine;
  /** By the group's index in the plan. */
  readonly groups: readonly GroupLoad[];
  readonly ledger: WorkerLedger;
  /** Closes what groups share; at once where there is nothing. */
  endClients(): Promise<void>;
}

/**
 * Makes the whole load of a worker's share of a plan: a part for each group, and the engine.
 * @throws SquallError or RangeError where the share cannot be run as the plan wants it.
 */
export function assembleLoad(init: Init, services: LoadServices): AssembledLoad {
  const { plan } = init;
  const recorder = new Recorder(services.moment);
  const ledger = new WorkerLedger({
    plan,
    worker: init.worker,
    runHash: runHash(init.run),
    moment: services.moment,
    clockDomain: init.clockDomain,
    shortRun: init.shortRun,
    secrets: init.secrets,
  });
  // Groups look at the timeline, which belongs to the engine, which is made of the groups.
  let engine: Engine | null = null;
  const timeline = {
    currentStage: (): number => engine?.currentStage() ?? 0,
    sinceStart: (us: number): number => engine?.sinceStart(us) ?? 0,
  };
  const files = new PlanFiles(init.files);
  const common = { ...services, plan, recorder, timeline, ledger, files };
  const clients = new RocketmqClients(services.createRocketmq, { moment: services.moment, files });
  const groups = plan.groups.map((_, index): GroupLoad => {
    const share = shareOf(init, index);
    const { target, group, context } = share;
    if (target.protocol === 'mqtt') return new MqttLoad({ ...share, ...common, target });
    const { client, isNew } = clients.of({ target, group, context });
    return new RocketmqLoad({ ...share, ...common, target, client, booksWire: isNew });
  });
  const { reports, moment } = services;
  engine = new Engine({
    plan,
    groups,
    recorder,
    moment,
    reports: {
      ...reports,
      stageState: (stage, state) => reports.stageState(stage, state, failedOf(groups)),
    },
  });
  return { engine, groups, ledger, endClients: () => clients.end() };
}

type GroupShare = Pick<
  GroupServices,
  | 'group'
  | 'groupIndex'
  | 'target'
  | 'order'
  | 'context'
  | 'runHash'
  | 'clockDomain'
  | 'firstSubject'
>;

/** What is a group's own, of the plan and of the worker's share. */
function shareOf(init: Init, index: number): GroupShare {
  const { plan, ranges, shortRun, secrets, clockDomain } = init;
  const group = plan.groups[index];
  const range = ranges[index];
  if (group === undefined || range === undefined) {
    throw new RangeError(`the share has no clients for group ${index}`);
  }
  const target = plan.targets[group.target];
  if (target === undefined) throw new RangeError(`group ${group.name} has no target`);
  const seed = runHash(`${init.run}/${init.agent}/${init.worker}/${group.name}`);
  return {
    group,
    groupIndex: index,
    target,
    order: clientOrder(range, group.clients),
    context: new RenderContext({
      group,
      target,
      shortRun,
      secrets,
      vars: plan.vars,
      rows: init.rows[group.name] ?? null,
      seed,
    }),
    runHash: runHash(init.run),
    clockDomain,
    firstSubject: streamsBefore(plan, index),
  };
}

/** Clients that finally failed, by group; groups without any are left out. */
function failedOf(groups: readonly GroupLoad[]): Record<string, number> {
  const failed: Record<string, number> = {};
  for (const group of groups) {
    if (group.failed > 0) failed[group.name] = group.failed;
  }
  return failed;
}

/** Streams are numbered through the whole plan, for the stamp. */
function streamsBefore(plan: Plan, group: number): number {
  return plan.groups.slice(0, group).reduce((sum, each) => sum + each.publish.length, 0);
}
