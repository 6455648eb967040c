import type { Plan } from '@squall/core/plan';
import { checkReport, type Report } from '@squall/core/report';
import { type Controller, startController } from '../src/controller.ts';
import type { RunTiming } from '../src/limits.ts';
import { decodeSavedRun } from '../src/run/checkpoint/run-codec.ts';
import type { SavedRun } from '../src/run/checkpoint/saved-run.ts';
import type { RunEvent, RunHandle } from '../src/run/run-handle.ts';
import type { Checkpoint, StoredPage } from '../src/store/store.ts';
import { seenIn, TIMING } from './run-fixture.ts';
import { type Script, ScriptedAgent } from './scripted-agent.ts';

/** A store of one run in memory, held by one life of its controller after the other. */
class Checkpoints {
  newest: Checkpoint | null = null;
  count = 0;
  /** Pages of the ledger, by agent, worker and number. */
  readonly #pages = new Map<string, StoredPage>();
  /** Called after each checkpoint, before anyone hears of it. */
  afterSave: () => void = () => undefined;
  /** Why it cannot be written to now. */
  trouble: string | null = null;

  /** What one life of the controller writes to. What was killed writes no more. */
  gate() {
    const gate = {
      open: true,
      saveCheckpoint: (_run: string, checkpoint: Checkpoint): Promise<void> => {
        if (!gate.open) return Promise.reject(new Error('it was killed'));
        if (this.trouble !== null) return Promise.reject(new Error(this.trouble));
        for (const page of checkpoint.pages ?? []) {
          this.#pages.set(`${page.agent} ${page.worker} ${page.page}`, page);
        }
        this.newest = { ...checkpoint, pages: [...this.#pages.values()] };
        this.count++;
        this.afterSave();
        return Promise.resolve();
      },
    };
    return gate;
  }
}

interface Life {
  readonly controller: Controller;
  readonly handle: RunHandle;
  readonly events: RunEvent[];
  readonly gate: { open: boolean };
}

export interface LivesOptions {
  readonly plan: Plan;
  readonly scripts?: readonly Script[];
  readonly timing?: Partial<RunTiming>;
}

/**
 * A run over scripted agents whose controller can be killed and started again. In one process a
 * killed controller cannot be gone, but neither agents nor store hear of it any more.
 */
export class Lives {
  readonly store = new Checkpoints();
  readonly agents: readonly ScriptedAgent[];
  readonly #timing: Partial<RunTiming>;
  readonly #lives: Life[];

  static async begin({ plan, scripts = [{}, {}], timing = {} }: LivesOptions): Promise<Lives> {
    const store = new Checkpoints();
    const gate = store.gate();
    const controller = await start({ ...TIMING, ...timing }, { checkpoints: gate });
    const agents = scripts.map((script, index) => {
      const id = `agent-${index + 1}`;
      return new ScriptedAgent({ url: controller.url, id, token: 'secret' }, script);
    });
    await Promise.all(agents.map((agent) => agent.join()));
    const handle = controller.submit(plan, { version: '0.1.0', secrets: { SECRET: 'hush' } });
    const life = { controller, handle, events: listen(handle), gate };
    return new Lives({ store, agents, life, timing: { ...TIMING, ...timing } });
  }

  private constructor(parts: {
    store: Checkpoints;
    agents: readonly ScriptedAgent[];
    life: Life;
    timing: Partial<RunTiming>;
  }) {
    this.store = parts.store;
    this.agents = parts.agents;
    this.#timing = parts.timing;
    this.#lives = [parts.life];
  }

  get now(): Life {
    const life = this.#lives.at(-1);
    if (life === undefined) throw new Error('no life');
    return life;
  }

  agent(index: number): ScriptedAgent {
    const agent = this.agents[index];
    if (agent === undefined) throw new Error(`no agent ${index}`);
    return agent;
  }

  /** The moment when an event fits in this life. */
  seen(fits: (event: RunEvent) => boolean): Promise<void> {
    return seenIn(this.now.handle, this.now.events, fits);
  }

  warnings(): string {
    return this.now.events
      .flatMap((event) => (event.type === 'warning' ? [event.text] : []))
      .join('\n');
  }

  /** As SIGKILL would. */
  kill(): void {
    this.now.gate.open = false;
    for (const agent of this.agents) if (agent.open) agent.cut();
  }

  async saved(): Promise<SavedRun> {
    if (this.store.newest === null) throw new Error('there is no checkpoint');
    return decodeSavedRun(this.store.newest.state, this.store.newest.pages);
  }

  /** Starts the next controller. Agents come back when they are told to. */
  async startAgain(more: { readonly clockDomain?: string } = {}): Promise<void> {
    const gate = this.store.gate();
    const handles: RunHandle[] = [];
    const events: RunEvent[] = [];
    const begun = (run: RunHandle) => {
      handles.push(run);
      run.onEvent((event) => events.push(event));
    };
    const resume = [{ saved: await this.saved(), begun }];
    const controller = await start(this.#timing, { checkpoints: gate, resume, ...more });
    const [handle] = handles;
    if (handle === undefined) throw new Error('nothing was taken up');
    this.#lives.push({ controller, handle, events, gate });
  }

  async comeBack(agents: readonly ScriptedAgent[] = this.agents): Promise<void> {
    await Promise.all(agents.map((agent) => agent.comeBack(this.now.controller.url)));
  }

  /** Kills the controller, and after a while there is another one that all agents find. */
  async rebirth(awayMs = 0): Promise<void> {
    this.kill();
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    await this.startAgain();
    await this.comeBack();
  }

  /** The report, held against what is true of every report. */
  async report(): Promise<Report> {
    const report = await this.now.handle.done;
    const broken = checkReport(report);
    if (broken.length > 0) throw new Error(JSON.stringify(broken));
    return report;
  }

  async close(): Promise<void> {
    for (const agent of this.agents) agent.die();
    await Promise.all(this.#lives.map(({ controller }) => controller.close()));
  }
}

type Own = Partial<Parameters<typeof startController>[0]>;

function start(timing: Partial<RunTiming>, own: Own): Promise<Controller> {
  return startController({ host: '127.0.0.1', port: 0, token: 'secret', timing, ...own });
}

function listen(handle: RunHandle): RunEvent[] {
  const events: RunEvent[] = [];
  handle.onEvent((event) => events.push(event));
  return events;
}
