import type { Plan } from '@squall/core/plan';
import { describe, expect, it, type TestContext } from 'vitest';
import { Lives, type LivesOptions } from './lives.ts';
import { planOf, type PlanSketch, publish, subscribe } from './plans.ts';
import { inStage, inState, runScene, type Scene, type SceneOptions } from './run-fixture.ts';

const SECOND = 1_000_000;

/** Four clients, each hears what it sends. */
const ECHO: PlanSketch = {
  stages: [{ name: 'load', activities: [subscribe, publish], forUs: SECOND }],
  subscribes: true,
  thresholds: ['lost: count == 0'],
  settle: { quietUs: 300_000, maxUs: 5 * SECOND },
  limits: { agentGraceUs: 10 * SECOND },
};

async function scene(
  test: TestContext,
  plan: Plan,
  scripts: SceneOptions['scripts'],
): Promise<Scene> {
  const made = await runScene({ plan, scripts: scripts ?? [] });
  test.onTestFinished(() => made.close());
  return made;
}

async function lives(test: TestContext, options: LivesOptions): Promise<Lives> {
  const made = await Lives.begin(options);
  test.onTestFinished(() => made.close());
  return made;
}

const WHOLE = { ledger: { sent: 5, arrived: 5 } };
const WITHOUT_EDGE = { ledger: { sent: 5, arrived: 5, told: [10], without: 'edge' as const } };
const LEAKING = { ledger: { sent: 5, arrived: 3 } };

describe.concurrent('the delivery ledger of a run', { timeout: 20_000 }, () => {
  it('adds up over all agents, and passes where everything arrived', async (test) => {
    const run = await scene(test, planOf(ECHO), [WHOLE, WHOLE]);
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 });
    expect(report.ledger).toHaveLength(1);
    expect(report.ledger[0]).toMatchObject({
      from: 'devices',
      to: 'devices',
      qos: 1,
      pairs: 4,
      expected: 20,
      unique: 20,
      received: 20,
      lost: 0,
      state: 'pass',
    });
    expect(report.thresholds[0]).toMatchObject({ state: 'pass', observed: 0 });
    expect(report.notes.join()).not.toContain('Delivery was not verified');
  });

  it('fails a run by what was lost, asked or not', async (test) => {
    const run = await scene(test, planOf(ECHO), [WHOLE, LEAKING]);
    const asked = await run.report();
    expect(asked).toMatchObject({ verdict: 'fail', exitCode: 99 });
    expect(asked.thresholds[0]).toMatchObject({ state: 'fail', observed: 4 });
    const other = await scene(test, planOf({ ...ECHO, thresholds: [] }), [WHOLE, LEAKING]);
    const unasked = await other.report();
    expect(unasked).toMatchObject({ verdict: 'fail', exitCode: 99 });
    expect(unasked.reasons.join()).toContain('4 of 20 messages lost at QoS 1');
    expect(unasked.ledger[0]).toMatchObject({ expected: 20, unique: 16, lost: 4, state: 'fail' });
  });

  it('is inconclusive where a page never came, and says whose', async (test) => {
    const half = { ledger: { sent: 5, arrived: 5, without: 'pairs' as const } };
    const report = await (await scene(test, planOf(ECHO), [WHOLE, half])).report();
    expect(report).toMatchObject({ verdict: 'inconclusive', exitCode: 112 });
    expect(report.reasons.join()).toContain('agent agent-2, worker 0');
    expect(report.ledger[0]).toMatchObject({ expected: 10, lost: 0, unverifiablePairs: 2 });
    expect(report.ledger[0]?.unverifiableFrom).toEqual(['agent-2']);
    expect(report.thresholds[0]).toMatchObject({ state: 'inconclusive' });
    expect(report.thresholds[0]?.remark).toContain('agent-2');
  });

  it('is inconclusive where an agent was lost, and loses nothing of the others', async (test) => {
    const limits = { agentGraceUs: 300_000, onAgentLoss: 'degrade' } as const;
    const run = await scene(test, planOf({ ...ECHO, limits }), [WHOLE, WHOLE]);
    await run.seen(inStage('load'));
    const [now] = run.handle.figures?.thresholds() ?? [];
    expect(now?.remark).toBe('the delivery ledger is made when the run is over');
    run.agent(1).die();
    const report = await run.report();
    expect(report.verdict).toBe('inconclusive');
    expect(report.ledger[0]).toMatchObject({ expected: 10, unique: 10, lost: 0 });
    expect(report.ledger[0]?.unverifiableFrom).toEqual(['agent-2']);
  });

  it('says of what it is not when no stream can be followed', async (test) => {
    const plan = planOf({ ...ECHO, thresholds: [] });
    const groups = plan.groups.map((group) => ({
      ...group,
      publish: group.publish.map((stream) => ({ ...stream, verify: false })),
    }));
    const run = await scene(test, { ...plan, groups }, [{}, {}]);
    const report = await run.report();
    expect(report.verdict).toBe('pass');
    expect(report.notes.join()).toContain('devices is outside the ledger: its messages carry no');
  });

  it('takes a page that names what the plan does not have for a bad message', async (test) => {
    const run = await scene(test, planOf(ECHO), [WHOLE, WHOLE]);
    await run.seen(inStage('load'));
    const clock = { domain: 7, startUs: 0 };
    const strange = { worker: 0, page: 9, last: false, clock } as const;
    run.agent(0).sendFrame({
      slices: [],
      pages: [{ ...strange, kind: 'publishers', stream: 99, stage: 0, marksUs: [], rows: [] }],
    });
    const report = await run.report();
    // Its worker now has a page too many, so nothing is sure of it.
    expect(report.verdict).toBe('inconclusive');
    expect(report.agents.every(({ state }) => state === 'completed')).toBe(true);
    expect(report.ledger[0]?.unverifiableFrom).toEqual(['agent-1']);
  });
});

const told = (...arrived: number[]) => ({ ledger: { sent: 5, arrived: 5, told: arrived } });

/** How long a run settles, ms, by its own clock. */
async function settling(run: Scene): Promise<number> {
  const moment = (state: 'settling' | 'collecting') =>
    run.seen(inState(state)).then(() => performance.now());
  const [from, to] = await Promise.all([moment('settling'), moment('collecting')]);
  return to - from;
}

describe.concurrent('what is waited for at the end', { timeout: 30_000 }, () => {
  const PATIENT = planOf({ ...ECHO, settle: { quietUs: 8 * SECOND, maxUs: 12 * SECOND } });

  it('ends a second after the last of all messages, and not after the silence of the plan', async (test) => {
    const run = await scene(test, PATIENT, [told(10), told(9, 1)]);
    const ms = await settling(run);
    expect(ms).toBeGreaterThan(2_500);
    expect(ms).toBeLessThan(6_000);
    expect((await run.report()).verdict).toBe('pass');
  });

  it.for<[string, SceneOptions['scripts']]>([
    ['a message is missing', [told(10), told(9)]],
    ['more came than can be', [told(10), told(11)]],
    ['an agent does not say what it sent', [told(10), WITHOUT_EDGE]],
  ])('lasts as long as the plan says where %s', async ([, scripts], test) => {
    const run = await scene(test, PATIENT, scripts);
    expect(await settling(run)).toBeGreaterThan(8_000);
  });

  it('is the same after the controller was gone in the middle of it', async (test) => {
    const run = await lives(test, { plan: PATIENT, scripts: [told(10), told(4, 0, 0, 0, 6)] });
    await run.seen(inState('settling'));
    await new Promise((resolve) => setTimeout(resolve, 700));
    await run.rebirth();
    const reborn = performance.now();
    expect((await run.report()).verdict).toBe('pass');
    // The rest comes in the fifth second of settle, and 8 s of silence after it would be many more.
    expect(performance.now() - reborn).toBeLessThan(9_000);
  });
});

describe.concurrent('the ledger of a run whose controller dies', { timeout: 20_000 }, () => {
  const figures = { expected: 20, received: 16, unique: 16, lost: 4, unverifiable: 0 };
  const scripts = [WHOLE, LEAKING];

  it('has the pages that came before its death and those that come after it', async (test) => {
    const run = await lives(test, { plan: planOf(ECHO), scripts });
    await Promise.all(run.agents.map((agent) => agent.next('finish')));
    await run.rebirth();
    expect((await run.report()).ledger[0]).toMatchObject(figures);
  });

  it('is made once more where only the report was missing', async (test) => {
    const run = await lives(test, { plan: planOf(ECHO), scripts });
    const before = await run.report();
    run.kill();
    await run.startAgain();
    const report = await run.report();
    expect(report.ledger).toEqual(before.ledger);
    expect(report.thresholds).toEqual(before.thresholds);
    expect(report).toMatchObject({ verdict: 'fail', exitCode: 99 });
  });

  it('acknowledges no page that is not in the store', async (test) => {
    const run = await lives(test, { plan: planOf(ECHO), scripts });
    await run.seen(inStage('load'));
    run.store.trouble = 'the disk is full';
    await Promise.all(run.agents.map((agent) => agent.next('finish')));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await run.rebirth();
    run.store.trouble = null;
    expect((await run.report()).ledger[0]).toMatchObject(figures);
  });

  it('cannot be made without the secrets in its topics, and says so', async (test) => {
    const plan = planOf(ECHO);
    const groups = plan.groups.map((group) => ({
      ...group,
      publish: group.publish.map((stream) => ({ ...stream, topic: '{{env.SECRET}}/{{n}}' })),
      subscribe: group.subscribe.map((entry) => ({ ...entry, topics: ['{{env.SECRET}}/{{n}}'] })),
    }));
    const run = await lives(test, { plan: { ...plan, groups }, scripts: [WHOLE, WHOLE] });
    await run.seen(inStage('load'));
    await run.rebirth();
    const report = await run.report();
    expect(report.verdict).toBe('inconclusive');
    expect(report.reasons.join()).toMatch(/values of .* in topics/);
    expect(report.thresholds[0]).toMatchObject({ state: 'inconclusive' });
  });

  it('shows no secret in the names of clients, and does not need it', async (test) => {
    const plan = planOf(ECHO);
    const groups = plan.groups.map((group) => ({ ...group, clientId: '{{env.SECRET}}-{{n}}' }));
    const run = await lives(test, { plan: { ...plan, groups }, scripts });
    await run.seen(inStage('load'));
    await run.rebirth();
    const report = await run.report();
    expect(report.ledger[0]).toMatchObject(figures);
    expect(report.ledger[0]?.examples['lost']?.[0]?.client).toMatch(/^\*\*\*-\d$/);
  });
});
