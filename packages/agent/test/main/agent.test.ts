import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentHandle, AgentOptions } from '../../src/index.ts';
import { startAgent } from '../../src/index.ts';
import { FakeController, RUN } from './fake-controller.ts';
import { smallPlan } from './plans.ts';

const workerEntry = fileURLToPath(new URL('./fake-worker.mjs', import.meta.url));
const QUICK = {
  reconnectMinUs: 20_000,
  reconnectMaxUs: 50_000,
  probeSpacingUs: 1_000,
  runProbeIntervalUs: 100_000,
  sliceWaitUs: 300_000,
  workerExitUs: 300_000,
};

let controller: FakeController;
let agent: AgentHandle | undefined;

beforeEach(async () => {
  controller = await FakeController.open();
});

afterEach(async () => {
  // Twice: the first drains, which a controller that is gone never ends.
  await Promise.all([agent?.stop(), agent?.stop()]);
  agent = undefined;
  await controller.close();
  const left = workerProcesses();
  if (left.length > 0) throw new Error(`workers outlive their agent: ${left.join(', ')}`);
});

describe('an agent that joins', () => {
  it('says who it is and what it has, then keeps its heart beating and its clock mapped', async () => {
    controller.clockOffsetUs = 5_000_000_000;
    await join({ labels: { site: 'a' }, workers: 3 });
    const hello = await controller.next('hello');
    expect(hello.agent).toMatchObject({ id: 'a1', workers: 3, labels: { site: 'a' } });
    expect(hello.resume).toBeNull();
    const report = await controller.next('clock_report');
    expect(Math.abs(report.offsetUs - 5_000_000_000)).toBeLessThanOrEqual(report.boundUs + 1);
    const { health } = await controller.next('heartbeat');
    expect(health.rssBytes).toBeGreaterThan(10_000_000);
  });

  it('waits for a controller that is not there yet', async () => {
    const { port } = controller;
    await controller.close();
    agent = await startAgent(options({ controller: `ws://127.0.0.1:${port}` }));
    controller = await FakeController.open(port);
    expect((await controller.next('hello')).agent.id).toBe('a1');
  });

  it('ends with SQ_TOKEN when its token is wrong', async () => {
    agent = await startAgent(options({ token: 'guessed' }));
    await expect(agent.closed).rejects.toMatchObject({ code: 'SQ_TOKEN' });
  });

  it('ends with SQ_CONTROL when the controller speaks another protocol', async () => {
    controller.greeting = () => ({ type: 'rejected', code: 'protocol', message: 'version 2 only' });
    agent = await startAgent(options({}));
    await expect(agent.closed).rejects.toMatchObject({
      code: 'SQ_CONTROL',
      message: 'version 2 only',
    });
  });

  it('refuses an address that is none', async () => {
    await expect(startAgent(options({ controller: 'http://127.0.0.1' }))).rejects.toMatchObject({
      code: 'SQ_USAGE',
    });
  });

  it('ends when it was told to and its controller is gone', async () => {
    await join({ whenControllerIsGone: 'exit', limits: { ...QUICK, idleGoneUs: 200_000 } });
    await controller.next('hello');
    await controller.close();
    await expect(agent?.closed).resolves.toBeUndefined();
  });
});

describe('a run', () => {
  it('goes from assign to release, with every slice merged and counted once', async () => {
    await begin();
    controller.advance(1, 300_000);
    await controller.next('stage_state', ({ state }) => state === 'drained');
    await finishAndRelease();
    const prologue = await controller.next('stage_state', ({ state }) => state === 'prologue_done');
    expect(prologue.failed).toEqual({ g: 2 });
    expect(controller.total('sent')).toBeGreaterThan(0);
    expect(controller.total('sent')).toBe(controller.total('planned'));
    const slices = controller.frames.flatMap((frame) => frame.slices);
    const seconds = slices.map(({ phase, n }) => `${phase} ${n}`);
    expect(new Set(seconds).size).toBe(seconds.length);
    const finished = await controller.next('finished');
    expect(finished.cpuSeconds).toBeGreaterThanOrEqual(1);
    expect(finished.lastSeq).toBe(controller.frames.at(-1)?.seqTo);
    // Free again: the next run is taken.
    controller.assign(smallPlan(), { agent: 'a1', workers: 1 });
    await controller.until(() => controller.all('ready').length === 2, 'second ready');
  });

  it('hands on the ledger of every worker, page by page, before it says that it is finished', async () => {
    await begin();
    await finishAndRelease();
    const pages = controller.frames.flatMap((frame) => frame.pages ?? []);
    const names = pages.map(({ worker, page }) => `${worker} ${page}`);
    expect(names.toSorted()).toEqual(['0 0', '0 1', '1 0', '1 1']);
  });

  it('keeps pages back while nobody acknowledges, and gives them all in the end', async () => {
    await begin({ secrets: { worker1: 'many_pages' }, limits: { ledgerFrames: 10 } });
    controller.acknowledging = false;
    controller.send({ type: 'finish', ...RUN });
    await controller.until(() => pagesOf(1) > 0, 'a page');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(pagesOf(1)).toBeLessThan(10);
    controller.acknowledging = true;
    controller.acknowledge(controller.frames.at(-1)?.seqTo ?? 0);
    await controller.until(() => pagesOf(1) === 100, 'all pages');
    await finishAndRelease();
  });

  it('starts at the controller’s T on its own clock', async () => {
    controller.clockOffsetUs = -7_000_000_000;
    await begin({ delayUs: 400_000 });
    const started = await controller.next('started');
    expect(started.skewUs).toBeGreaterThan(-5_000);
    expect(started.skewUs).toBeLessThan(2_000_000);
  });

  it('refuses a second run while it is in one', async () => {
    await begin();
    const plan = smallPlan();
    const share = { agent: 'a1', workers: [{ groups: [{ first: 0, last: 9, clients: 10 }] }] };
    const other = { run: 'run-2', epoch: 1 };
    const bus = { kind: 'link' } as const;
    controller.send({ type: 'assign', ...other, shortRun: 'r2', plan, share, bus, secrets: {} });
    const refused = await controller.next('refused');
    expect(refused).toMatchObject(other);
    expect(refused.reasons[0]).toContain('run-1');
    controller.advance(1);
    await finishAndRelease();
  });

  it('stops hard when it is told to', async () => {
    await begin();
    controller.send({ type: 'stop', ...RUN, mode: 'hard' });
    await controller.next('stage_state', ({ state }) => state === 'drained');
    await finishAndRelease();
    expect(controller.total('sent')).toBe(controller.total('planned'));
  });

  it('is over when it is released before it began', async () => {
    await join({});
    await controller.next('hello');
    controller.assign(smallPlan(), { agent: 'a1', workers: 2 });
    await controller.next('ready');
    controller.send({ type: 'release', ...RUN });
    await until(() => workerProcesses().length === 0);
    expect(controller.all('finished')).toEqual([]);
  });
});

describe('an agent that observes', () => {
  it('says so, and takes no share', async () => {
    await join({ observe: true });
    expect((await controller.next('hello')).agent.observes).toBe(true);
    controller.assign(smallPlan(), { agent: 'a1', workers: 1 });
    const { reasons } = await controller.next('refused');
    expect(reasons).toEqual(['it takes no other run: it only observes its host']);
    expect(workerProcesses()).toEqual([]);
  });
});

describe('a share that cannot be carried', () => {
  it('is refused when it needs more descriptors than a process may hold', async () => {
    await join({});
    await controller.next('hello');
    controller.assign(smallPlan({ clients: 50_000_000 }), { agent: 'a1', workers: 1 });
    const { reasons } = await controller.next('refused');
    expect(reasons.join('\n')).toMatch(/file descriptors.*(CAP_SYS_RESOURCE|ulimit -n 50000064)/);
  });

  it.each([
    ['refuse', /no such broker/],
    ['crash_early', /worker 1 ended before it was ready: exit code 1: Error: cannot read the plan/],
    ['never_ready', /worker 1 was not ready within 0.4 s/],
  ])('is refused when a worker says so or cannot (%s)', async (behaviour, reason) => {
    await join({ limits: { ...QUICK, workerReadyUs: 400_000 } });
    await controller.next('hello');
    controller.assign(smallPlan(), { agent: 'a1', workers: 2, secrets: { worker1: behaviour } });
    const { reasons } = await controller.next('refused');
    expect(reasons.join('\n')).toMatch(reason);
    await controller.until(() => workerProcesses().length === 0, 'end of the workers');
  });

  it('is refused when the worker program cannot be run', async () => {
    await join({ workerEntry: '/no/such/worker.js' });
    await controller.next('hello');
    controller.assign(smallPlan(), { agent: 'a1', workers: 1 });
    const { reasons } = await controller.next('refused');
    expect(reasons.join('\n')).toMatch(/worker 0 ended before it was ready.*Cannot find module/);
  });

  it('is refused when the clock cannot be set', async () => {
    controller.answering = false;
    await join({ limits: { ...QUICK, clockReadyUs: 200_000 } });
    await controller.next('hello');
    controller.assign(smallPlan(), { agent: 'a1', workers: 1 });
    expect((await controller.next('refused')).reasons[0]).toContain('clock probe');
  });

  it('is given up when no start comes', async () => {
    await join({ limits: { ...QUICK, startUs: 200_000 } });
    await controller.next('hello');
    controller.assign(smallPlan(), { agent: 'a1', workers: 1 });
    await controller.next('ready');
    expect((await controller.next('refused')).reasons[0]).toContain('no start came');
  });
});

describe('a worker that is lost', () => {
  it.each([
    ['crash', /exit code 1: Error: the heap is on fire/],
    ['kill', /killed by SIGKILL/],
    ['vanish', /exit code 0/],
    ['silent', /silent for 0.6 s/],
  ])('is named, and the others go on (%s)', async (behaviour, reason) => {
    await begin({
      secrets: { worker1: behaviour },
      limits: { workerSilenceUs: 600_000, workerWatchUs: 50_000 },
    });
    const lost = await controller.next('worker_lost');
    expect(lost.worker).toBe(1);
    expect(lost.reason).toMatch(reason);
    const frames = controller.frames.length;
    await controller.until(() => controller.frames.length > frames + 3, 'further frames');
    controller.advance(1);
    await controller.next('stage_state', ({ state }) => state === 'drained');
    await finishAndRelease();
    // Worker 0 counted 1 a slice, worker 1 delivered its four slices of 2 before it was lost.
    expect(controller.total('sent')).toBe(controller.total('planned') + 8);
  });

  it('ends the run here when it was the last one', async () => {
    await begin({ secrets: { worker0: 'kill', worker1: 'crash' } });
    const finished = await controller.next('finished');
    expect(controller.all('worker_lost')).toHaveLength(2);
    expect(finished.lastSeq).toBeGreaterThan(0);
    controller.send({ type: 'release', ...RUN });
  });

  it('is ended when it never finishes', async () => {
    await begin({ secrets: { worker1: 'never_finished' }, limits: { workerFinishUs: 300_000 } });
    controller.advance(1);
    await finishAndRelease();
    expect((await controller.next('worker_lost')).reason).toBe('did not finish within 0.3 s');
  });
});

describe('a link that is cut', () => {
  it('is taken up again with no frame lost and none counted twice', async () => {
    await begin();
    await controller.until(() => controller.frames.length >= 3, 'frames');
    controller.acknowledging = false;
    await controller.until(() => controller.frames.length >= 6, 'frames');
    controller.cut();
    const again = await controller.next('hello', ({ resume }) => resume !== null);
    expect(again.resume).toEqual(RUN);
    controller.acknowledging = true;
    // What was said before is said again: the controller may have missed it.
    await controller.until(() => controller.all('started').length === 2, 'second started');
    controller.advance(0);
    controller.advance(1, 200_000);
    await controller.next('stage_state', ({ state }) => state === 'drained');
    await finishAndRelease();
    const sequences = new Set(controller.frames.map(({ seqFrom }) => seqFrom));
    expect(sequences.size).toBe((await controller.next('finished')).lastSeq);
    expect(controller.frames.length).toBeGreaterThan(sequences.size);
    expect(controller.total('sent')).toBe(controller.total('planned'));
  });

  it('is given up and dialled again when the controller says nothing any more', async () => {
    controller.answering = false;
    await join({ limits: { ...QUICK, linkSilenceUs: 200_000 } });
    await controller.until(() => controller.all('hello').length >= 2, 'second hello');
    expect(controller.agents).toBe(1);
  });

  it('is dialled again after a message that does not fit the protocol', async () => {
    await begin();
    controller.sendRaw('{"type":"advance","run":7}');
    const again = await controller.next('hello', ({ resume }) => resume !== null);
    expect(again.resume).toEqual(RUN);
    expect(workerProcesses()).toHaveLength(2);
  });

  it('stops the load when the controller stays away past its grace, then waits for another', async () => {
    const { port } = controller;
    await begin({ agentGraceUs: 300_000 });
    await controller.close();
    await until(() => workerProcesses().length === 0);
    controller = await FakeController.open(port);
    expect((await controller.next('hello')).resume).toBeNull();
    controller.assign(smallPlan(), { agent: 'a1', workers: 1 });
    await controller.next('ready');
  });

  it('ends the run here when the controller knows it no more', async () => {
    await begin();
    controller.greeting = ({ resume, agent: { id } }) =>
      resume === null
        ? { type: 'welcome', controller: 'fake', heartbeatUs: 50_000, agent: id }
        : { type: 'rejected', code: 'unknown_run', message: 'the run is over' };
    controller.cut();
    await until(() => workerProcesses().length === 0);
    await controller.until(() => controller.all('hello').length === 3, 'third hello');
    const resumes = controller.all('hello').map(({ resume }) => resume);
    expect(resumes).toEqual([null, RUN, null]);
  });
});

describe('an agent that is told to leave', () => {
  it('drains the load, delivers what was measured, and goes', async () => {
    await begin();
    await controller.until(() => controller.frames.length >= 3, 'frames');
    await agent?.stop();
    await agent?.closed;
    await controller.next('finished');
    expect(controller.total('sent')).toBe(controller.total('planned'));
    await controller.until(() => controller.agents === 0, 'end of the link');
  });

  it('goes without an answer when nobody acknowledges', async () => {
    await begin({ limits: { deliverUs: 200_000 } });
    controller.acknowledging = false;
    await controller.until(() => controller.frames.length >= 3, 'frames');
    await expect(agent?.stop()).resolves.toBeUndefined();
  });

  it('does not wait for workers that never drain', async () => {
    await begin({ secrets: { worker0: 'never_drained' }, limits: { leaveMarginUs: 0 } });
    await agent?.stop();
    expect((await controller.next('finished')).lastSeq).toBeGreaterThan(0);
  });

  it('cuts it short when it is told twice', async () => {
    await begin({ secrets: { worker0: 'never_drained' } });
    const leaving = agent?.stop();
    await agent?.stop();
    await leaving;
    expect(workerProcesses()).toEqual([]);
  });
});

function options(changes: Partial<AgentOptions>): AgentOptions {
  return {
    controller: controller.url,
    token: 'secret',
    id: 'a1',
    workers: 2,
    workerEntry,
    limits: QUICK,
    ...changes,
  };
}

async function join(changes: Partial<AgentOptions>): Promise<void> {
  agent = await startAgent(options(changes));
}

interface Beginning {
  readonly delayUs?: number;
  readonly agentGraceUs?: number;
  readonly secrets?: Record<string, string>;
  readonly limits?: NonNullable<AgentOptions['limits']>;
}

/** Joined, assigned to two workers, started. */
async function begin(beginning: Beginning = {}): Promise<void> {
  await join({ limits: { ...QUICK, ...beginning.limits } });
  await controller.next('hello');
  const plan = smallPlan(
    beginning.agentGraceUs === undefined ? {} : { agentGraceUs: beginning.agentGraceUs },
  );
  controller.assign(plan, { agent: 'a1', workers: 2, secrets: beginning.secrets ?? {} });
  await controller.next('ready');
  controller.advance(0, beginning.delayUs ?? 100_000);
  await controller.next('started');
}

async function finishAndRelease(): Promise<void> {
  controller.send({ type: 'finish', ...RUN });
  const { lastSeq } = await controller.next('finished');
  await controller.until(
    () => controller.frames.some(({ seqTo }) => seqTo === lastSeq),
    'last frame',
  );
  controller.send({ type: 'release', ...RUN });
  await until(() => workerProcesses().length === 0);
}

/** Pages of a worker's ledger that came. */
function pagesOf(worker: number): number {
  const pages = controller.frames.flatMap((frame) => frame.pages ?? []);
  return new Set(pages.filter((page) => page.worker === worker).map(({ page }) => page)).size;
}

/** Worker processes of this test that are still there. */
function workerProcesses(): number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isOurWorker(pid));
}

function isOurWorker(pid: number): boolean {
  try {
    const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return Number(parent) === process.pid && command.includes(workerEntry);
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
