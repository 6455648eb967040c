import { existsSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { type Controller, type ControllerOptions, startController } from '../controller.ts';
import { silentLogger } from '../logger.ts';
import { controllerMetrics } from '../prometheus/controller-metrics.ts';
import { type App, buildApp } from '../rest/app.ts';
import { openStore } from '../store/sql/sql-store.ts';
import type { Store } from '../store/store.ts';
import { systemTime } from '../time-source.ts';
import { earlierRuns } from './earlier-runs.ts';
import { LiveRuns } from './live-runs.ts';
import { type PlanReader, ThreadPlanReader } from './plan-reader.ts';
import { keepPurged } from './purger.ts';
import { RunService } from './run-service.ts';

export interface ServiceOptions
  extends Omit<ControllerOptions, 'checkpoints' | 'requests' | 'resume' | 'token'> {
  /** Path of the store; made where there is none. */
  readonly store: string;
  /** What requests must show, and agents, too, unless they have a token of their own. */
  readonly token?: string;
  /** What agents must show to be let in. */
  readonly agentToken?: string;
  /** Version of the product, for reports. */
  readonly version: string;
  /** How long a run is kept after its end, ms; null: for ever. */
  readonly retentionMs: number | null;
  /** How long the figures of a run stay in the metrics after its end, µs. */
  readonly lingerUs?: number;
  /** For tests. */
  readonly plans?: PlanReader;
}

/** A controller that serves many runs over its REST API, and remembers them. */
export interface Service {
  readonly port: number;
  /** Where agents dial: `ws://127.0.0.1:4747`. */
  readonly url: string;
  /** Address of the bus, fit to be printed; null where frames travel on the agents' own links. */
  readonly bus: string | null;
  /** Runs that go on or wait. */
  readonly activeRuns: number;
  /** Asks every run to end. */
  stopRuns(mode: 'graceful' | 'hard'): void;
  /** Resolves when no run goes on. */
  idle(): Promise<void>;
  /** Stops what runs, hard, writes its reports, and closes everything. */
  close(): Promise<void>;
  /**
   * Closes everything and leaves the runs as they are: the agents go on with their load, and the next
   * controller over this store takes them up from their last checkpoints.
   */
  leave(): Promise<void>;
}

/** Scrapes are often a quarter of a minute apart: the last figures of a run must be seen by one. */
const LINGER_US = 60_000_000;

/** @throws SquallError SQ_STORE, SQ_LISTEN, SQ_BUS */
export async function startService(options: ServiceOptions): Promise<Service> {
  const isNew = !existsSync(options.store);
  const store = await openStore(options.store);
  try {
    return await serve(options, store);
  } catch (error) {
    await store.close();
    // Nothing was kept in it: who mends the address or the bus finds the place as it was.
    if (isNew) removeStore(options.store);
    throw error;
  }
}

/** With the files that SQLite may have beside it. */
function removeStore(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
}

async function serve(options: ServiceOptions, store: Store): Promise<Service> {
  const { version, lingerUs = LINGER_US, plans = new ThreadPlanReader() } = options;
  const time = options.time ?? systemTime;
  const logger = options.logger ?? silentLogger;
  const live = new LiveRuns({ store, time, lingerUs });
  const earlier = await earlierRuns({ store, plans, time, version });
  const door = new Door();
  const controller = await startController({
    ...options,
    ...tokenFor(options),
    requests: door.listener,
    checkpoints: live,
    resume: earlier.goingOn.map(({ record, saved, known }) => ({
      saved,
      begun: (handle) => live.add(handle, record, known),
    })),
  });
  for (const { id, plan, options: submitted, record } of earlier.waiting) {
    live.add(controller.submit(plan, submitted, id), record);
  }
  const service = new RunService({ controller, store, live, plans, time, version });
  const metrics = controllerMetrics({
    version,
    agents: () => controller.agents(),
    runs: () => live.measured(),
    storeHealthy: () => live.storeTrouble === null,
  });
  const app = await buildApp({ service, version, logger, token: options.token ?? null, metrics });
  door.open(app);
  const stopPurge = keepPurged({ store, time, logger, retentionMs: options.retentionMs });
  const parts: Parts = { app, controller, live, stopPurge, store };
  return {
    port: controller.port,
    url: controller.url,
    bus: controller.bus,
    get activeRuns() {
      return live.active().length;
    },
    stopRuns: (mode) => {
      for (const run of live.active()) run.handle.stop(mode, 'signal');
    },
    idle: async () => {
      await Promise.allSettled(live.active().map((run) => run.handle.done));
    },
    close: () => close(parts),
    leave: () => leave(parts),
  };
}

interface Parts {
  readonly app: App;
  readonly controller: Controller;
  readonly live: LiveRuns;
  readonly stopPurge: () => void;
  readonly store: Store;
}

async function close({ app, controller, live, stopPurge, store }: Parts): Promise<void> {
  stopPurge();
  // Streams of events end here; what they did not see is in the store.
  await app.close();
  await controller.close();
  await live.close();
  await store.close();
}

/** The process ends after this: what still holds on to it goes with it. */
async function leave({ app, live, stopPurge, store }: Parts): Promise<void> {
  stopPurge();
  await app.close();
  await live.close();
  await store.close();
}

function tokenFor({ token, agentToken = token }: ServiceOptions): { token?: string } {
  return agentToken === undefined ? {} : { token: agentToken };
}

/** The way of plain HTTP to the API, which is there a moment later than the port. */
class Door {
  #app: App | null = null;

  readonly listener: RequestListener = (request, response) => {
    if (this.#app !== null) {
      this.#app.routing(request, response);
      return;
    }
    response.writeHead(503, { 'retry-after': '1' }).end();
  };

  open(app: App): void {
    this.#app = app;
  }
}
