import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import {
  type Controller,
  type RunHandle,
  startController,
  writeReport,
  writeWhole,
} from '@squall/controller';
import { SquallError } from '@squall/core/errors';
import type { Plan } from '@squall/core/plan';
import { type Report, toJunit } from '@squall/core/report';
import { checkDescriptors } from '../descriptor-failure.ts';
import { encryption } from '../encryption.ts';
import { EXIT } from '../exit-codes.ts';
import { DEFAULT_OUT, filesText, prepareOutput } from '../output-files.ts';
import { type LoadedPlan, loadPlan, type PlanRequest } from '../plan-file.ts';
import { type ChildEnd, Children } from '../processes/children.ts';
import { onInterrupts } from '../processes/interrupts.ts';
import { startLocalAgents, startLocalBroker } from '../processes/local-fleet.ts';
import { redisOf } from '../redis-options.ts';
import { reportSummary } from '../terminal/summary.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { joinToken } from '../token.ts';
import { followRun } from './follow.ts';
import type { RunCommandOptions } from './run-options.ts';

const TOKEN_BYTES = 24;
/** Agents of this machine join within this time; those of other machines get the usual one. */
const LOCAL_AGENTS_US = 30_000_000;
/** Agents that are told by name when a run begins. */
const MAX_AGENTS_SHOWN = 10;
/** Stands for the embedded broker's address while it is not known yet. */
const ANY_BROKER = 'mqtt://127.0.0.1:1883';

/** What a run needs of its surroundings. */
export interface RunScene {
  readonly terminal: Terminal;
  readonly version: string;
  /** Path of this program, for its children. */
  readonly program: string;
  /** Gets the run as soon as there is one. */
  readonly watch?: (handle: RunHandle) => void;
}

/**
 * `squall run`: controller in this process, agents (and a broker) as child processes or started by
 * hand, to the report. The same parts that run on many machines, composed on one.
 * @returns the exit code. @throws SquallError for everything that is wrong before the run.
 */
export async function runCommand(
  planFile: string,
  options: RunCommandOptions,
  scene: RunScene,
): Promise<number> {
  const request: PlanRequest = {
    file: planFile,
    vars: options.var,
    labels: options.label,
    scale: options.scale,
    timeoutUs: options.timeout,
    env: process.env,
  };
  // What is wrong with the plan is told before anything is started for it.
  const checked = loadPlan(withBroker(request, options.withBroker ? ANY_BROKER : null));
  await prepareOutput(options);
  const count = options.agentsExternal ?? options.agents ?? checked.plan.limits.agents.count ?? 1;
  checkDescriptors({
    agents: count,
    children: (options.agentsExternal === undefined ? count : 0) + (options.withBroker ? 1 : 0),
  });
  const token = joinToken(options) ?? randomBytes(TOKEN_BYTES).toString('base64url');
  const controller = await openController(options, token);
  const children = new Children(scene.program);
  const run = new ComposedRun({ options, scene, controller, children });
  try {
    const broker = options.withBroker ? await run.broker() : null;
    const loaded = broker === null ? checked : loadPlan(withBroker(request, broker));
    return await run.carryOut(loaded, { count, token });
  } finally {
    // Interrupts are listened to until the very end: one that came now must not lose the exit code.
    await controller.close();
    await children.endAll();
  }
}

function withBroker(request: PlanRequest, broker: string | null): PlanRequest {
  return broker === null ? request : { ...request, vars: { ...request.vars, broker } };
}

function openController(options: RunCommandOptions, token: string): Promise<Controller> {
  if (options.tlsCert !== undefined && options.agentsExternal === undefined) {
    throw new SquallError('SQ_USAGE', '--tls-cert is for agents of other machines', {
      hint: 'leave it out, or start the agents yourself and give --agents-external',
    });
  }
  const { host, port } = options.listen ?? { host: '127.0.0.1', port: 0 };
  const usual = options.agentsExternal === undefined ? LOCAL_AGENTS_US : undefined;
  const agentsUs = options.agentsTimeout ?? usual;
  return startController({
    host,
    port,
    token,
    ...encryption(options),
    ...(agentsUs === undefined ? {} : { timing: { agentsUs } }),
    ...redisOf(options),
  });
}

interface Parts {
  readonly options: RunCommandOptions;
  readonly scene: RunScene;
  readonly controller: Controller;
  readonly children: Children;
}

/** One run with the processes that belong to it, and what a person's signals do to it. */
class ComposedRun {
  readonly #parts: Parts;
  #handle: RunHandle | null = null;
  /** Set when the report is written. */
  #exitCode: number | null = null;
  #say: (text: string) => void;
  #warn: (text: string) => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { terminal } = parts.scene;
    this.#say = (text) => terminal.print(`${text}\n`);
    this.#warn = (text) => terminal.error(`${text}\n`);
    onInterrupts({
      graceful: () => this.#interrupt(),
      hard: () => this.#cutOff(),
      leave: () => process.exit(this.#exitCode ?? EXIT.signal),
    });
  }

  /** Starts the embedded broker and tells its address. */
  async broker(): Promise<string> {
    const { children } = this.#parts;
    const broker = await startLocalBroker(children, (end) => this.#died(end));
    this.#note(`broker   ${broker.url} (embedded aedes, pid ${broker.pid})`);
    return broker.url;
  }

  async carryOut(
    loaded: LoadedPlan,
    { count, token }: { readonly count: number; readonly token: string },
  ): Promise<number> {
    const { options, controller, scene } = this.#parts;
    for (const warning of loaded.warnings) this.#warn(warning);
    const handle = controller.submit(overAgents(loaded.plan, count), {
      version: scene.version,
      secrets: loaded.secrets,
      material: loaded.material,
      strict: options.strict ?? false,
      timeout: options.timeout !== undefined,
      scale: options.scale ?? 1,
      scaled: loaded.scaled,
    });
    this.#handle = handle;
    scene.watch?.(handle);
    this.#note(`run      ${handle.id}`);
    this.#note(`plan     ${loaded.about}`);
    if (controller.bus !== null) this.#note(`bus      ${controller.bus}`);
    this.#startAgents(count, token);
    const view = followRun(handle, scene.terminal, options.quiet ?? false);
    this.#say = (text) => view.say(text);
    this.#warn = (text) => view.warn(text);
    const report = await handle.done;
    view.end();
    return await this.#conclude(report);
  }

  #startAgents(count: number, token: string): void {
    const { options, controller, children } = this.#parts;
    if (options.agentsExternal !== undefined) {
      const command = dialCommand(controller.url, joinToken(options) === null ? token : null);
      this.#note(`agents   ${count} to be started by hand: ${command}`);
      return;
    }
    const started = startLocalAgents(children, {
      count,
      workers: options.workers ?? Math.max(1, Math.floor(availableParallelism() / count)),
      url: controller.url,
      token,
      onDeath: (end) => {
        this.#died(end);
        controller.agentGone(end.name, `its process ended by itself: ${end.how}`);
      },
    });
    const shown = started.slice(0, MAX_AGENTS_SHOWN).map(({ name, pid }) => `${name} (pid ${pid})`);
    const more = started.length - shown.length;
    this.#note(`agents   ${shown.join(' · ')}${more > 0 ? ` and ${more} more` : ''}`);
  }

  /** The files first: whatever happens to the terminal, the report is there. */
  async #conclude(report: Report): Promise<number> {
    const { options, scene } = this.#parts;
    const folder = options.out ?? path.join(DEFAULT_OUT, report.run.id);
    const files = await writeReport(folder, report);
    if (options.junit !== undefined) await writeWhole(options.junit, toJunit(report));
    this.#exitCode = report.exitCode;
    scene.terminal.print(reportSummary(report, scene.terminal.style));
    scene.terminal.print(filesText(files, options.junit));
    return report.exitCode;
  }

  #interrupt(): void {
    const handle = this.#handle;
    // The run is over and told; its processes are on their way out.
    if (this.#exitCode !== null) return;
    // Nothing has begun that could be ended in order: the children go with this process.
    if (handle === null) process.exit(EXIT.signal);
    this.#warn(
      'ending the load; once more (again Ctrl-C) cuts it off, a third time leaves at once',
    );
    handle.stop('graceful', 'signal');
  }

  #cutOff(): void {
    if (this.#exitCode !== null) {
      this.#parts.children.killAll();
      return;
    }
    this.#warn('cutting the load off; once more leaves at once, without a report');
    this.#handle?.stop('hard', 'signal');
  }

  #died(end: ChildEnd): void {
    this.#warn(`${end.name} (pid ${end.pid}) ended by itself: ${end.how}`);
    for (const line of end.lastLines) this.#warn(`  ${end.name}: ${line}`);
  }

  /** A line about the run, not shown when quiet. */
  #note(text: string): void {
    if (this.#parts.options.quiet !== true) this.#say(text);
  }
}

/** The plan with the number of agents that this command line gives it. */
function overAgents(plan: Plan, count: number): Plan {
  return { ...plan, limits: { ...plan.limits, agents: { ...plan.limits.agents, count } } };
}

/** How to start an agent by hand. A token is printed only where nobody else knows it yet. */
function dialCommand(url: string, newToken: string | null): string {
  return `SQUALL_TOKEN=${newToken ?? '…'} squall agent --controller ${url}`;
}
