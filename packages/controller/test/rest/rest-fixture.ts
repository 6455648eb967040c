import { type ReadPlan, readPlan } from '@squall/core/plan';
import type { LightMyRequestResponse, InjectOptions } from 'fastify';
import { type Controller, startController } from '../../src/controller.ts';
import type { RunTiming } from '../../src/limits.ts';
import { type App, buildApp } from '../../src/rest/app.ts';
import { LiveRuns } from '../../src/service/live-runs.ts';
import type { PlanReader } from '../../src/service/plan-reader.ts';
import { SubmittedFiles } from '../../src/service/submitted-files.ts';
import { RunService } from '../../src/service/run-service.ts';
import type { Store } from '../../src/store/store.ts';
import { systemTime } from '../../src/time-source.ts';
import { ScriptedAgent, type Script } from '../scripted-agent.ts';
import { StoreFolder } from '../store/store-fixture.ts';

/** Short enough for a test, long enough for a busy machine. */
const TIMING: Partial<RunTiming> = {
  agentsUs: 20_000_000,
  leadUs: 150_000,
  gridUs: 50_000,
  drainMarginUs: 500_000,
  collectUs: 700_000,
  hardStopUs: 500_000,
};

export const TOKEN = 'a-token-of-the-test';

/** Reads in this very thread, as the sources cannot be run by another one. */
const readHere: PlanReader = {
  read: (text, options, files): Promise<ReadPlan> => {
    const source = files === null ? null : new SubmittedFiles(files);
    return Promise.resolve(readPlan(text, { ...options, files: source }));
  },
};

export interface RestOptions {
  readonly agents?: readonly Script[];
  readonly token?: string | null;
  readonly plans?: PlanReader;
  /** The store as the service sees it. */
  readonly wrap?: (store: Store) => Store;
}

/** The whole API over a real store and a real controller, with agents whose load is arithmetic. */
export class RestScene {
  readonly app: App;
  readonly controller: Controller;
  readonly service: RunService;
  readonly store: Store;
  readonly warnings: string[];
  readonly #folder: StoreFolder;
  readonly #live: LiveRuns;
  readonly #token: string | null;
  readonly #agents: ScriptedAgent[] = [];

  static async open(options: RestOptions = {}): Promise<RestScene> {
    const folder = new StoreFolder();
    const file = await folder.open();
    const store = options.wrap?.(file) ?? file;
    const live = new LiveRuns({ store, time: systemTime, lingerUs: 1_000_000 });
    const controller = await startController({
      host: '127.0.0.1',
      port: 0,
      timing: TIMING,
      checkpoints: live,
    });
    const { plans = readHere, token = TOKEN } = options;
    const version = '0.1.0';
    const service = new RunService({ controller, store, live, plans, time: systemTime, version });
    const warnings: string[] = [];
    const logger = { info: () => undefined, warn: (line: string) => warnings.push(line) };
    const metrics = { contentType: 'text/plain', text: () => Promise.resolve('squall_up 1\n') };
    const app = await buildApp({ service, token, version, logger, metrics });
    const scene = new RestScene({ app, controller, service, store, live, folder, token, warnings });
    for (const script of options.agents ?? []) await scene.join(script);
    return scene;
  }

  private constructor(parts: {
    app: App;
    controller: Controller;
    service: RunService;
    store: Store;
    live: LiveRuns;
    folder: StoreFolder;
    token: string | null;
    warnings: string[];
  }) {
    this.app = parts.app;
    this.controller = parts.controller;
    this.service = parts.service;
    this.store = parts.store;
    this.warnings = parts.warnings;
    this.#live = parts.live;
    this.#folder = parts.folder;
    this.#token = parts.token;
  }

  /** An agent more. */
  async join(script: Script = {}): Promise<ScriptedAgent> {
    const id = `agent-${this.#agents.length + 1}`;
    const agent = new ScriptedAgent({ url: this.controller.url, id, token: '' }, script);
    this.#agents.push(agent);
    await agent.join();
    return agent;
  }

  /** A request with the token. */
  send(
    method: NonNullable<InjectOptions['method']>,
    url: string,
    more: Pick<InjectOptions, 'payload' | 'headers'> = {},
  ): Promise<LightMyRequestResponse> {
    const authorization = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
    return this.app.inject({
      method,
      url,
      ...more,
      headers: { ...authorization, ...more.headers },
    });
  }

  get(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    return this.send('GET', url, { headers });
  }

  postPlan(text: string, query = ''): Promise<LightMyRequestResponse> {
    const headers = { 'content-type': 'application/yaml' };
    return this.send('POST', `/v1/plans${query}`, { payload: text, headers });
  }

  /** Submits a run. @returns the id. */
  async run(body: Record<string, unknown> = { text: PLAN }): Promise<string> {
    const response = await this.send('POST', '/v1/runs', { payload: body });
    if (response.statusCode !== 201) throw new Error(response.body);
    return response.json<{ id: string }>().id;
  }

  /** Waits for the end of a run. */
  async over(id: string): Promise<Record<string, unknown>> {
    const response = await this.get(`/v1/runs/${id}?wait=20s`);
    const run = response.json<Record<string, unknown>>();
    if (run['state'] !== 'done') throw new Error(response.body);
    return run;
  }

  async close(): Promise<void> {
    await this.app.close();
    for (const agent of this.#agents) agent.die();
    await this.controller.close();
    await this.#live.close();
    await this.#folder.dispose();
  }
}

/** A plan that scripted agents are through with in a second. */
export const PLAN = `
squall: 1
name: small
labels: { team: test }
vars: { topic: t }
targets:
  broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:1883"] }
groups:
  devices:
    target: broker
    clients: 4
    publish: { topic: "{{topic}}/{{n}}", qos: 1, payload: 100B, rate: 10/s }
stages:
  - { name: publish, run: { devices: publish }, for: 1s }
thresholds:
  - "acked: count > 0"
limits:
  agents: { count: 1 }
`;

/** The same, going on until it is stopped. */
export const LONG_PLAN = PLAN.replace('for: 1s', 'for: 1h').replace('name: small', 'name: long');
