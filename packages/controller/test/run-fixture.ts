import type { Plan } from '@squall/core/plan';
import { checkReport, type Report } from '@squall/core/report';
import { expect } from 'vitest';
import { type Controller, startController } from '../src/controller.ts';
import type { RunTiming } from '../src/limits.ts';
import type { RunEvent, RunHandle } from '../src/run/run-handle.ts';
import type { SubmitOptions } from '../src/run/submit-options.ts';
import { type Script, ScriptedAgent } from './scripted-agent.ts';

/** Short enough for a test, long enough for a busy machine. */
export const TIMING: Partial<RunTiming> = {
  agentsUs: 700_000,
  readyUs: 700_000,
  leadUs: 150_000,
  gridUs: 50_000,
  prologueMarginUs: 500_000,
  drainMarginUs: 500_000,
  finishUs: 2_000_000,
  collectUs: 700_000,
  hardStopUs: 500_000,
  watermarkUs: 1_500_000,
  checkpointUs: 100_000,
  lastCheckpointsUs: 50_000,
};

export interface Scene {
  readonly controller: Controller;
  readonly agents: ScriptedAgent[];
  readonly handle: RunHandle;
  readonly events: RunEvent[];
  agent(index: number): ScriptedAgent;
  /** The moment when an event fits, now or later. */
  seen(fits: (event: RunEvent) => boolean): Promise<void>;
  /** The report, held against what is true of every report. */
  report(): Promise<Report>;
  close(): Promise<void>;
}

export interface SceneOptions {
  readonly plan: Plan;
  readonly scripts?: readonly Script[];
  readonly submit?: Partial<SubmitOptions>;
  readonly timing?: Partial<RunTiming>;
}

/** A controller, one scripted agent a script, and a run over them. */
export async function runScene(options: SceneOptions): Promise<Scene> {
  const controller = await startController({
    host: '127.0.0.1',
    port: 0,
    token: 'secret',
    timing: { ...TIMING, ...options.timing },
  });
  const agents = (options.scripts ?? [{}, {}]).map(
    (script, index) =>
      new ScriptedAgent({ url: controller.url, id: `agent-${index + 1}`, token: 'secret' }, script),
  );
  await Promise.all(agents.map((agent) => agent.join()));
  const handle = controller.submit(options.plan, { version: '0.1.0', ...options.submit });
  const events: RunEvent[] = [];
  handle.onEvent((event) => events.push(event));
  return {
    controller,
    agents,
    handle,
    events,
    agent(index) {
      const agent = agents[index];
      if (agent === undefined) throw new Error(`no agent ${index}`);
      return agent;
    },
    seen: (fits) => seenIn(handle, events, fits),
    async report() {
      const report = await handle.done;

      expect(checkReport(report)).toEqual([]);
      return report;
    },
    async close() {
      for (const agent of agents) agent.die();
      await controller.close();
    },
  };
}

/** The moment when an event fits, now or later. */
export function seenIn(
  handle: RunHandle,
  events: readonly RunEvent[],
  fits: (event: RunEvent) => boolean,
): Promise<void> {
  if (events.some(fits)) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = handle.onEvent((event) => {
      if (!fits(event)) return;
      stop();
      resolve();
    });
  });
}

export const inStage =
  (name: string, phase: 'prologue' | 'main' = 'main') =>
  (event: RunEvent): boolean =>
    event.type === 'stage' && event.name === name && event.phase === phase;

export const inState =
  (state: string) =>
  (event: RunEvent): boolean =>
    event.type === 'state' && event.state === state;
