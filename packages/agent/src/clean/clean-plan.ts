import type { ClientRange, GroupRows } from '@squall/core/partition';
import type { Group, Plan, RocketmqTarget } from '@squall/core/plan';
import { GroupClients } from '../awaited/group-clients.ts';
import { PlanFiles } from '../worker/plan-files.ts';
import { cleanRetained, type RetainedResult } from './clean-retained.ts';
import { cleanRocketmq, type RocketmqResult } from './clean-rocketmq.ts';
import { cleanSessions, keepsSessions, type SessionResult } from './clean-sessions.ts';
import { Gate } from './gate.ts';
import { retainedTemplates } from './retained-templates.ts';

export interface CleanOptions {
  readonly plan: Plan;
  /** Clients that are cleaned up after, by the group's index; all of them where left out. */
  readonly ranges?: {
    readonly sessions: readonly ClientRange[];
    readonly retained: readonly ClientRange[];
  };
  /** What `{{run}}` was. */
  readonly shortRun: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Contents of the files that the plan names, base64. */
  readonly files: Readonly<Record<string, string>>;
  /** Rows of CSV files, by the group's name. */
  readonly rows: Readonly<Record<string, GroupRows>>;
  /** `names`: topics and groups of RocketMQ. */
  readonly what: {
    readonly retained: boolean;
    readonly sessions: boolean;
    readonly names?: boolean;
  };
  /** What the run says it made: `topic load`, `group readers`. */
  readonly made?: ReadonlySet<string>;
  /** Says what there is to be removed, and removes nothing. Sessions are not asked for. */
  readonly dryRun: boolean;
  /** Connections and messages a second, together. */
  readonly ratePerS: number;
  /** Once aborted it ends at once, with what was done so far. */
  readonly signal?: AbortSignal;
  progress?(progress: CleanProgress): void;
}

export interface CleanProgress {
  readonly group: string;
  readonly what: 'retained' | 'sessions';
  readonly done: number;
  readonly total: number;
}

/** What the parts of a cleaning share. */
export interface CleanScene {
  readonly gate: Gate;
  readonly dryRun: boolean;
  /** Kept sessions were removed before: a client's id can be taken without harm to its session. */
  readonly sessionsGone: boolean;
  progress(progress: CleanProgress): void;
}

export interface GroupCleaned {
  readonly group: string;
  /** Null where the group leaves none. */
  readonly retained: RetainedResult | null;
  readonly sessions: SessionResult | null;
  /** Null where the group is of MQTT, or uses no topic or group of the run's own. */
  readonly rocketmq: RocketmqResult | null;
  /** Failed steps by what was tried and the reason. */
  readonly failures: readonly CleanFailure[];
}

export interface CleanFailure {
  readonly step: 'connect' | 'subscribe' | 'publish' | 'look' | 'remove';
  readonly reason: string;
  readonly count: number;
}

/** Counts failures by reason. */
export class Failures {
  readonly #counts = new Map<string, CleanFailure>();

  add(step: CleanFailure['step'], reason: string): void {
    const key = `${step} ${reason}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { step, reason, count });
  }

  all(): CleanFailure[] {
    return [...this.#counts.values()];
  }
}

/**
 * Removes what a run left on its brokers: retained messages on the topics that it used, sessions of
 * its clients; of RocketMQ the topics and groups that it made. Groups that leave nothing are left out of the answer.
 * @throws Error or SquallError where a group cannot be told from the plan.
 */
export async function cleanPlan(options: CleanOptions): Promise<GroupCleaned[]> {
  const { dryRun, plan, ratePerS } = options;
  const scene: CleanScene = {
    gate: new Gate(ratePerS, options.signal),
    dryRun,
    sessionsGone: options.what.sessions && !dryRun,
    progress: (progress) => options.progress?.(progress),
  };
  const cleaned: GroupCleaned[] = [];
  for (const index of plan.groups.keys()) {
    const one = await cleanGroup(index, options, scene);
    if (one !== null) cleaned.push(one);
  }
  return cleaned;
}

/** Sessions first: a client that is asked for topics afterwards has none any more. */
async function cleanGroup(
  index: number,
  options: CleanOptions,
  scene: CleanScene,
): Promise<GroupCleaned | null> {
  const { plan } = options;
  const group = plan.groups[index];
  const target = group === undefined ? undefined : plan.targets[group.target];
  if (group === undefined || target === undefined) return null;
  const failures = new Failures();
  const cleaned =
    target.protocol === 'rocketmq'
      ? await cleanNames({ group, target }, options, { scene, failures })
      : await cleanMqtt({ group, index }, options, { scene, failures });
  return cleaned === null ? null : { group: group.name, ...cleaned, failures: failures.all() };
}

type Cleaned = Pick<GroupCleaned, 'retained' | 'sessions' | 'rocketmq'>;
interface Work {
  readonly scene: CleanScene;
  readonly failures: Failures;
}

/** RocketMQ keeps neither sessions nor retained messages. */
async function cleanNames(
  place: { readonly group: Group; readonly target: RocketmqTarget },
  options: CleanOptions,
  work: Work,
): Promise<Cleaned | null> {
  if (options.what.names !== true) return null;
  const rocketmq = await cleanRocketmq(place, options, work);
  return rocketmq === null ? null : { retained: null, sessions: null, rocketmq };
}

async function cleanMqtt(
  { group, index }: { readonly group: Group; readonly index: number },
  options: CleanOptions,
  { scene, failures }: Work,
): Promise<Cleaned | null> {
  const { ranges, what } = options;
  const ofSessions = what.sessions ? clientsOf(options, group, ranges?.sessions[index]) : null;
  const sessions =
    ofSessions !== null && keepsSessions(ofSessions)
      ? await cleanSessions(ofSessions, scene, failures)
      : null;
  const ofRetained = what.retained ? clientsOf(options, group, ranges?.retained[index]) : null;
  const retained =
    ofRetained !== null && retainedTemplates(group).length > 0
      ? await cleanRetained(ofRetained, scene, failures)
      : null;
  return sessions === null && retained === null ? null : { retained, sessions, rocketmq: null };
}

/** Null where the range is empty. */
function clientsOf(
  options: CleanOptions,
  group: Group,
  range: ClientRange = { first: 0, last: group.clients - 1, clients: group.clients },
): GroupClients | null {
  if (range.clients === 0) return null;
  return new GroupClients({ ...options, group, range, files: new PlanFiles(options.files) });
}
