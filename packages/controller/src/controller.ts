import type { RequestListener } from 'node:http';
import type { RunBus } from '@squall/core/bus';
import { SquallError } from '@squall/core/errors';
import type { Plan } from '@squall/core/plan';
import { RedisBus, type RedisBusOptions } from '@squall/redis-bus';
import { LinkBus } from './bus/link-bus.ts';
import { clockDomain } from './clock-domain.ts';
import { type AgentView, viewOf } from './hub/agent-view.ts';
import { AgentHub } from './hub/hub.ts';
import type { TlsIdentity } from './hub/listen.ts';
import { RUN_TIMING, type RunTiming } from './limits.ts';
import { type Logger, silentLogger } from './logger.ts';
import { AgentQueue } from './run/agent-queue.ts';
import type { SavedRun } from './run/checkpoint/saved-run.ts';
import { Run } from './run/run.ts';
import type { RunHandle } from './run/run-handle.ts';
import { createRunId, type RunId } from './run/run-id.ts';
import type { RunParts } from './run/run-parts.ts';
import type { SubmitOptions } from './run/submit-options.ts';
import type { Store } from './store/store.ts';
import { systemTime, type TimeSource } from './time-source.ts';

export interface ControllerOptions {
  /** A loopback address, unless there are `token` and `tls`, or `token` and `unencrypted`. */
  readonly host: string;
  /** Encrypts agents' links and requests alike. */
  readonly tls?: TlsIdentity;
  /** Somebody said that the network is trusted, or that others encrypt. */
  readonly unencrypted?: boolean;
  /** 0 takes any free port. */
  readonly port: number;
  /** What agents must show; without it, whoever reaches the address is let in. */
  readonly token?: string;
  readonly logger?: Logger;
  /** Redis as the bus. Default: frames travel on the agents' own links. */
  readonly redis?: RedisBusOptions;
  /** Answers plain HTTP on the same port; agents come by WebSocket. */
  readonly requests?: RequestListener;
  /** Where runs are put away while they go on, so that another process can go on with them. */
  readonly checkpoints?: Pick<Store, 'saveCheckpoint'>;
  /** Runs to go on with. Their agents are let back in from the start. */
  readonly resume?: readonly ResumedRun[];
  /** For tests. */
  readonly clockDomain?: string;
  readonly time?: TimeSource;
  readonly timing?: Partial<RunTiming>;
}

/** A run that an earlier controller put away. */
interface ResumedRun {
  readonly saved: SavedRun;
  /** Called with its handle before anything happens to it. */
  readonly begun: (handle: RunHandle) => void;
}

export interface Controller {
  readonly port: number;
  /** Where agents dial: `ws://127.0.0.1:4747`, with TLS `wss://…`. */
  readonly url: string;
  /** Address of the bus, fit to be printed; null where frames travel on the agents' own links. */
  readonly bus: string | null;
  /** All agents known now, in the order of their ids. */
  agents(): AgentView[];
  /** Called when an agent joins, leaves, loses or gets back its link, is taken or set free. */
  onAgents(listener: () => void): () => void;
  /**
   * Tells of an agent whose end is certain, by someone who has seen its process die: nobody waits for
   * it any more.
   */
  agentGone(id: string, reason: string): void;
  /** Starts a run as soon as its agents are there. Runs with agents of their own go side by side. */
  submit(plan: Plan, options: SubmitOptions, id?: RunId): RunHandle;
  /** Stops what runs, hard, waits for its reports, and closes every link. */
  close(): Promise<void>;
}

/** @throws SquallError SQ_LISTEN, SQ_BUS, SQ_USAGE for an address of Redis that is none. */
export async function startController(options: ControllerOptions): Promise<Controller> {
  const time = options.time ?? systemTime;
  const logger = options.logger ?? silentLogger;
  const timing = { ...RUN_TIMING, ...options.timing };
  // First what is most likely to be wrong, so that nothing has to be undone for it.
  const redis = options.redis === undefined ? null : await openRedis(options.redis, options);
  const hub = await openHub(options, { time, logger });
  const bus: RunBus = redis ?? new LinkBus(hub);
  const queue = new AgentQueue(() => hub.sessions());
  const runs = new Set<RunHandle>();
  const surroundings = {
    hub,
    queue,
    bus,
    time,
    timing,
    logger,
    checkpoints: options.checkpoints ?? null,
    clockDomain: options.clockDomain ?? clockDomain(),
  };
  const begin = (own: Pick<RunParts, 'id' | 'plan' | 'options' | 'saved'>) => {
    const run = new Run({ ...surroundings, ...own });
    runs.add(run);
    const over = () => runs.delete(run);
    run.done.then(over, over);
    return run;
  };
  // In the same breath as the port was opened: no agent can have been turned away.
  for (const { saved, begun } of options.resume ?? []) {
    const { id, plan, options: submitted } = saved;
    begun(begin({ id, plan, options: submitted, saved }));
  }
  return {
    port: hub.port,
    url: addressOf(options, hub.port),
    bus: redis?.shown ?? null,
    agents: () => hub.sessions().map(viewOf),
    onAgents: (listener) => hub.onChange(listener),
    agentGone: (id, reason) => hub.session(id)?.end(reason),
    submit: (plan, submitted, id = createRunId(time.utcMs())) =>
      begin({ id, plan, options: submitted, saved: null }),
    async close() {
      for (const run of runs) run.stop('hard', 'api');
      await Promise.allSettled([...runs].map((run) => run.done));
      await bus.close();
      await hub.close();
    },
  };
}

/** A Redis that is down keeps nobody from starting who has runs to go on with: they wait for it. */
async function openRedis(
  redis: RedisBusOptions,
  { logger = silentLogger, resume = [] }: ControllerOptions,
): Promise<RedisBus> {
  try {
    return await RedisBus.open(redis);
  } catch (error) {
    const isDown = error instanceof SquallError && error.code === 'SQ_BUS';
    if (!isDown || resume.length === 0) throw error;
    logger.warn(`${error.message}; the runs that are taken up wait for it`);
    return RedisBus.unseen(redis);
  }
}

function openHub(
  { host, port, token, tls, unencrypted, requests }: ControllerOptions,
  { time, logger }: { time: TimeSource; logger: Logger },
): Promise<AgentHub> {
  return AgentHub.open({
    host,
    port,
    token: token ?? null,
    time,
    logger,
    remote: token !== undefined && (tls !== undefined || unencrypted === true),
    ...(tls === undefined ? {} : { tls }),
    ...(requests === undefined ? {} : { requests }),
  });
}

function addressOf({ host, tls }: ControllerOptions, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tls === undefined ? 'ws' : 'wss'}://${name}:${port}`;
}
