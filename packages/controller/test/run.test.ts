import { checkReport } from '@squall/core/report';
import { systemTime } from '../src/time-source.ts';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { connect, planOf, type PlanSketch, publish, subscribe } from './plans.ts';
import { inStage, inState, runScene, type Scene, type SceneOptions } from './run-fixture.ts';

const SECOND = 1_000_000;

/** Connects, then publishes for a while. */
const TWO_STAGES: PlanSketch = {
  stages: [
    { name: 'connect', activities: [connect] },
    { name: 'publish', activities: [publish], forUs: 400_000 },
  ],
};

async function scene(
  test: TestContext,
  sketch: PlanSketch,
  more: Omit<SceneOptions, 'plan'> = {},
): Promise<Scene> {
  const made = await runScene({ plan: planOf(sketch), ...more });
  test.onTestFinished(() => made.close());
  return made;
}

function finding(report: { validity: { findings: { check: string }[] } }, check: string) {
  return report.validity.findings.find((candidate) => candidate.check === check);
}

describe.concurrent('a run that goes well', () => {
  it('goes through its stages, adds up what the agents measured, and passes', async (test) => {
    const run = await scene(test, TWO_STAGES, { submit: { labels: { build: '7' } } });
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 });
    expect(report.validity.state).toBe('valid');
    expect(report.run).toMatchObject({ labels: { team: 'test', build: '7' }, scale: 1 });
    expect(report.stages.map(({ name, endedBy }) => [name, endedBy])).toEqual([
      ['connect', 'complete'],
      ['publish', 'duration'],
    ]);
    expect(report.stages[1]?.durationUs).toBe(400_000);
    expect(report.groups['devices']?.counters).toMatchObject({ connected: 4, sent: 10, acked: 10 });
    expect(report.groups['devices']?.times['publish_time']).toMatchObject({ count: 10 });
    expect(report.agents).toMatchObject([
      { id: 'agent-1', state: 'completed', startSkewUs: 1_500, clockBoundUs: 50, cpuSeconds: 1.5 },
      { id: 'agent-2', state: 'completed', rssBytesMax: 2_000_000 },
    ]);
    for (const agent of report.agents) expect(agent.framesReceived).toBe(agent.framesProduced);
    expect(report.split.map((share) => share.agent)).toEqual(['agent-1', 'agent-2']);
  });

  it('tells what happens, in order', async (test) => {
    const run = await scene(test, TWO_STAGES);
    await run.report();
    const states = run.events.flatMap((event) => (event.type === 'state' ? [event.state] : []));
    expect(states).toEqual([
      'waiting',
      'assigning',
      'starting',
      'running',
      'settling',
      'collecting',
      'done',
    ]);
    const stages = run.events.flatMap((event) => (event.type === 'stage' ? [event.name] : []));
    expect(stages).toEqual(['connect', 'publish']);
    expect(run.events.at(-1)?.type).toBe('done');
  });

  it('feeds the live view about once a second', async (test) => {
    const run = await scene(test, { stages: [{ activities: [publish], forUs: 2.4 * SECOND }] });
    await run.report();
    const progress = run.events.flatMap((event) =>
      event.type === 'progress' ? [event.progress] : [],
    );
    expect(progress.length).toBeGreaterThanOrEqual(2);
    expect(progress.length).toBeLessThanOrEqual(5);
    const last = progress.at(-1);
    expect(last).toMatchObject({ clients: 4, connections: 4 });
    expect(last?.totals.sent).toBeGreaterThanOrEqual(10);
    expect(progress.some((one) => (one.times.publish_time?.p99Us ?? 0) >= 2_000)).toBe(true);
    expect(progress.every((one) => (one.rates.sent ?? 0) < 11)).toBe(true);
    expect(progress.some((one) => (one.rates.sent ?? 0) > 5)).toBe(true);
  });

  it('starts a stage that publishes without connections after a prologue and a barrier', async (test) => {
    const run = await scene(test, {
      stages: [{ name: 'all', activities: [publish], forUs: 300_000 }],
    });
    const report = await run.report();
    const phases = run.events.flatMap((event) => (event.type === 'stage' ? [event.phase] : []));
    expect(phases).toEqual(['prologue', 'main']);
    const clock = await run.agent(0).next('clock');
    const start = await run.agent(0).next('advance');
    expect(clock.at).toBeGreaterThan(start.at);
    // The barrier lies on the grid of its stage.
    expect(Math.abs(((clock.at - start.at + 25_000) % 50_000) - 25_000)).toBeLessThan(1);
    expect(report.stages[0]).toMatchObject({ durationUs: 300_000, endedBy: 'duration' });
    expect(report.stages[0]?.prologueUs).toBeGreaterThanOrEqual(30_000);
  });

  it('announces T to everyone alike, and long enough before it comes', async (test) => {
    const run = await scene(test, TWO_STAGES);
    const [first, second] = await Promise.all(run.agents.map((agent) => agent.next('advance')));
    expect(first?.at).toBe(second?.at);
    expect(first?.at).toBeGreaterThan(systemTime.monotonicUs() + 50_000);
    await run.report();
  });

  it('lets go of its agents, which the next run then takes', async (test) => {
    const run = await scene(test, TWO_STAGES);
    await run.report();
    await run.agent(0).next('release');
    expect(run.controller.agents().map((agent) => agent.run)).toEqual([null, null]);
  });

  it('acknowledges every frame once it is folded', async (test) => {
    const run = await scene(test, TWO_STAGES);
    await run.report();
    const agent = run.agent(0);
    const last = await agent.next('frame_ack', ({ seq }) => seq === agent.lastSeq);
    expect(last).toMatchObject({ run: run.handle.id, epoch: 1 });
  });

  it('settles while something still arrives, and not longer', async (test) => {
    const run = await scene(
      test,
      {
        stages: [{ activities: [subscribe, publish], forUs: 300_000 }],
        subscribes: true,
        settle: { quietUs: SECOND, maxUs: 10 * SECOND },
      },
      { scripts: [{ receiveInSettle: 1, ledger: { sent: 5, arrived: 5 } }, {}] },
    );
    const settlingAt = run.seen(inState('settling')).then(() => performance.now());
    const collectingAt = run.seen(inState('collecting')).then(() => performance.now());
    const settleMs = (await collectingAt) - (await settlingAt);
    // Something arrives in the first second, nothing in the second one.
    expect(settleMs).toBeGreaterThan(1_900);
    expect(settleMs).toBeLessThan(3_500);
    expect((await run.report()).verdict).toBe('pass');
  });
});

describe.concurrent('two runs', () => {
  const ONE: PlanSketch = { ...TWO_STAGES, limits: { agents: { count: 1, labels: {} } } };

  it('go side by side, each over agents of its own', async (test) => {
    const run = await scene(test, ONE);
    const other = run.controller.submit(planOf(ONE), { version: '0.1.0' });
    const [first, second] = [await run.report(), await other.done];
    expect([first.verdict, second.verdict]).toEqual(['pass', 'pass']);
    expect([first.agents[0]?.id, second.agents[0]?.id]).toEqual(['agent-1', 'agent-2']);
    expect([first, second].map((report) => report.groups['devices']?.counters['sent'])).toEqual([
      5, 5,
    ]);
    expect(checkReport(second)).toEqual([]);
  });

  it('take turns where there are agents for one only', async (test) => {
    const run = await scene(test, ONE, { scripts: [{}], timing: { agentsUs: 10 * SECOND } });
    const other = run.controller.submit(planOf(ONE), { version: '0.1.0' });
    expect((await run.report()).verdict).toBe('pass');
    await run.agent(0).next('assign', (assign) => assign.run === other.id);
    other.stop('graceful', 'api');
    expect((await other.done).exitCode).toBe(103);
  });

  it('waits for agents in use longer than for agents that are not there', async (test) => {
    const run = await scene(test, ONE, { scripts: [{}], timing: { agentsUs: 10_000 } });
    const other = run.controller.submit(planOf(ONE), { version: '0.1.0' });
    expect((await run.report()).verdict).toBe('pass');
    await run.agent(0).next('assign', (assign) => assign.run === other.id);
    other.stop('graceful', 'api');
    expect((await other.done).exitCode).toBe(103);
  });

  it('gives up when they are in use for too long', async (test) => {
    const run = await scene(test, ONE, { scripts: [{}], timing: { queueUs: 200_000 } });
    const other = run.controller.submit(planOf(ONE), { version: '0.1.0' });
    const report = await other.done;
    expect(report.exitCode).toBe(113);
    expect(report.reasons[0]).toContain('other runs have them');
    expect((await run.report()).verdict).toBe('pass');
  });

  it('shows its figures, its stages and how its thresholds stand while it goes on', async (test) => {
    const thresholds = ['acked: count == 0', 'acked: count > 0'];
    const run = await scene(test, { ...ONE, thresholds }, { scripts: [{}] });
    expect(run.handle.figures).toBeNull();
    await run.seen(inStage('publish'));
    const { figures } = run.handle;
    expect(figures?.stages()).toMatchObject([{ name: 'connect' }, { name: 'publish', toUs: null }]);
    expect(run.handle.agents()).toMatchObject([{ id: 'agent-1', state: 'active', reason: null }]);
    await run.report();
    expect(figures?.aggregate.counter({ metric: 'acked' })).toBeGreaterThan(0);
    expect(figures?.thresholds().map(({ state }) => state)).toEqual(['fail', 'pass']);
    expect(run.handle.agents()[0]).toMatchObject({ state: 'done', framesMissing: 0 });
  });
});

describe.concurrent('before the start', () => {
  it('ends with 113 when too few agents join', async (test) => {
    const run = await scene(test, TWO_STAGES, { scripts: [{}] });
    const report = await run.report();
    expect(report.exitCode).toBe(113);
    expect(report.reasons[0]).toContain('the plan needs 2 agents, but 1 of 1 known');
    expect(report.agents).toEqual([]);
    expect(run.controller.agents()[0]?.run).toBeNull();
  });

  it('asks for labels', async (test) => {
    const limits = { agents: { count: 1, labels: { zone: 'a' } } };
    const run = await scene(test, { ...TWO_STAGES, limits });
    const report = await run.report();
    expect(report.exitCode).toBe(113);
    expect(report.reasons[0]).toContain('zone=a');
  });

  it('ends with 113 and every reason when an agent refuses its share', async (test) => {
    const refuse = ['not enough descriptors', 'not enough ports'];
    const run = await scene(test, TWO_STAGES, { scripts: [{}, { refuse }] });
    const report = await run.report();
    expect(report.exitCode).toBe(113);
    const { host } = report.agents[1] ?? {};
    expect(report.reasons.slice(0, 2)).toEqual([
      `agent agent-2 on ${host} refused its share: not enough descriptors`,
      `agent agent-2 on ${host} refused its share: not enough ports`,
    ]);
    expect(report.agents[1]?.state).toBe('refused');
    await run.agent(0).next('release');
  });

  it('ends with 113 when an agent does not answer', async (test) => {
    const run = await scene(test, TWO_STAGES, { scripts: [{}, { mute: true }] });
    const report = await run.report();
    expect(report.exitCode).toBe(113);
    expect(report.reasons[0]).toContain('agent-2 was not ready');
  });

  it('ends with 113 when an agent is lost', async (test) => {
    const run = await scene(test, TWO_STAGES, {
      scripts: [{}, { mute: true }],
      timing: { readyUs: 10 * SECOND },
    });
    await run.seen(inState('assigning'));
    await run.agent(1).next('assign');
    run.agent(1).die();
    const report = await run.report();
    expect(report.exitCode).toBe(113);
    expect(report.reasons[0]).toContain('agent-2 was lost before the start');
  });

  it.for(['signal', 'api'] as const)('can be stopped by %s', async (by, test) => {
    const run = await scene(test, TWO_STAGES, { scripts: [], timing: { agentsUs: 60 * SECOND } });
    await run.seen(inState('waiting'));
    run.handle.stop('graceful', by);
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'cancelled', exitCode: by === 'signal' ? 105 : 103 });
  });
});

describe.concurrent('the end of a stage', () => {
  it('comes by its deadline when it is never complete', async (test) => {
    const run = await scene(
      test,
      {
        stages: [
          { name: 'connect', activities: [connect], deadlineUs: 300_000 },
          { name: 'publish', activities: [publish], forUs: 200_000 },
        ],
      },
      { scripts: [{}, { neverComplete: true }] },
    );
    const report = await run.report();
    expect(report.stages.map((stage) => stage.endedBy)).toEqual(['deadline', 'duration']);
  });

  it('aborts the run when it must be complete and is not', async (test) => {
    const run = await scene(
      test,
      {
        stages: [{ activities: [connect], deadlineUs: 300_000, onIncomplete: 'abort' }],
      },
      { scripts: [{ neverComplete: true }, {}] },
    );
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'aborted', exitCode: 111 });
    expect(report.stages[0]?.endedBy).toBe('aborted');
    expect(report.reasons.join()).toContain('was not complete');
  });

  it('aborts the run when it must be complete and clients failed', async (test) => {
    const run = await scene(
      test,
      { stages: [{ activities: [connect], onIncomplete: 'abort' }] },
      { scripts: [{}, { failed: 1 }] },
    );
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'aborted', exitCode: 111 });
    expect(report.reasons.join()).toContain('1 clients of devices failed');
  });

  it('comes by its condition, over closed seconds', async (test) => {
    const run = await scene(test, {
      stages: [
        {
          activities: [publish],
          until: {
            text: 'devices.sent >= 20',
            subject: 'devices',
            metric: 'sent',
            op: '>=',
            value: 20,
            fromRun: false,
          },
        },
      ],
    });
    const report = await run.report();
    expect(report.stages[0]?.endedBy).toBe('condition');
    // Ten messages a second: the condition holds when the second one is closed.
    expect(report.stages[0]?.durationUs).toBeGreaterThan(2 * SECOND);
    expect(report.stages[0]?.durationUs).toBeLessThan(3.5 * SECOND);
    const sent = report.groups['devices']?.counters['sent'] ?? 0;
    expect(sent).toBeGreaterThanOrEqual(20);
    expect(report.notes.join()).toContain(`devices.sent >= 20; at its end the value was ${sent}.`);
  });

  it('comes with the longest duration of the run', async (test) => {
    const limits = { maxDurationUs: 500_000 };
    const run = await scene(test, {
      stages: [{ activities: [publish], forUs: 60 * SECOND }],
      limits,
    });
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'aborted', exitCode: 111 });
    expect(report.reasons[0]).toBe(
      'the run took longer than its limits.maxDuration of 500ms allows: it was still in stage stage-1',
    );
  });

  it('is early and the verdict fail when a threshold with abort fails', async (test) => {
    const run = await scene(
      test,
      {
        stages: [{ activities: [publish], forUs: 60 * SECOND }],
        thresholds: ['publish_time: p(99) < 10ms over 1s, abort'],
      },
      { scripts: [{ latencyUs: 50_000 }, {}] },
    );
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'fail', exitCode: 99 });
    expect(report.stages[0]?.endedBy).toBe('aborted');
    expect(report.stages[0]?.durationUs).toBeLessThan(10 * SECOND);
    expect(report.thresholds[0]).toMatchObject({ state: 'fail', aborted: true });
  });
});

describe.concurrent('loss', () => {
  const LONG: PlanSketch = { stages: [{ name: 'load', activities: [publish], forUs: 2 * SECOND }] };

  it('of an agent ends the run where the plan says abort', async (test) => {
    const run = await scene(test, { ...LONG, limits: { agentGraceUs: 300_000 } });
    await run.seen(inStage('load'));
    run.agent(1).die();
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'aborted', exitCode: 111 });
    expect(report.validity.state).toBe('invalid');
    expect(report.stages[0]?.endedBy).toBe('agent_lost');
    expect(report.reasons.join()).toContain('agent-2');
    expect(report.agents[1]).toMatchObject({ state: 'lost', framesProduced: null });
    expect(report.agents[1]?.lostAt).toBeDefined();
    expect(report.agents[0]?.state).toBe('completed');
  });

  it('of an agent degrades the run where the plan says degrade', async (test) => {
    const run = await scene(test, {
      ...LONG,
      limits: { agentGraceUs: 300_000, onAgentLoss: 'degrade' },
    });
    await run.seen(inStage('load'));
    run.agent(1).die();
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 });
    expect(report.validity.state).toBe('degraded');
    expect(report.stages[0]).toMatchObject({ endedBy: 'duration', durationUs: 2 * SECOND });
    expect(report.agents[1]?.state).toBe('lost');
  });

  it('is known at once from whoever saw the process die', async (test) => {
    const run = await scene(test, { ...LONG, limits: { agentGraceUs: 60 * SECOND } });
    await run.seen(inStage('load'));
    run.agent(1).die();
    run.controller.agentGone('agent-2', 'its process was killed');
    const report = await run.report();
    expect(report.agents[1]).toMatchObject({ state: 'lost', reason: 'its process was killed' });
  });

  it('is what silence is that lasts, though the link stands', async (test) => {
    const run = await scene(test, {
      ...LONG,
      limits: { agentGraceUs: 700_000, onAgentLoss: 'degrade' },
    });
    await run.seen(inStage('load'));
    run.agent(1).freeze();
    const report = await run.report();
    expect(report.agents[1]).toMatchObject({ state: 'lost' });
    expect(report.agents[1]?.reason).toContain('it was silent');
    expect(report.agents[0]).toMatchObject({ state: 'completed' });
    await run.agent(1).closed();
  });

  it('of all agents ends the run even under degrade', async (test) => {
    const run = await scene(test, {
      ...LONG,
      limits: { agentGraceUs: 200_000, onAgentLoss: 'degrade' },
    });
    await run.seen(inStage('load'));
    for (const agent of run.agents) agent.die();
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'aborted', exitCode: 111 });
    expect(report.reasons.join()).toContain('no agent is left');
  });

  it('of a worker counts like that of its agent', async (test) => {
    const run = await scene(test, LONG);
    await run.seen(inStage('load'));
    const agent = run.agent(0);
    agent.say({ type: 'worker_lost', ...agent.resumeKey, worker: 0, reason: 'killed by SIGKILL' });
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'aborted', exitCode: 111 });
    expect(report.reasons.join()).toContain('worker 0 of agent agent-1');
    expect(report.agents[0]?.workersLost).toEqual([{ worker: 0, reason: 'killed by SIGKILL' }]);
  });

  it('is not what a link is that comes back: nothing is missing, nothing counts twice', async (test) => {
    const run = await scene(test, { ...LONG, limits: { agentGraceUs: 5 * SECOND } });
    await run.seen(inStage('load'));
    run.agent(1).cut();
    await run.seen((event) => event.type === 'agent' && event.state === 'cut off');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await run.agent(1).comeBack();
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 });
    expect(report.validity.state).toBe('valid');
    expect(report.agents[1]).toMatchObject({ state: 'completed' });
    expect(report.agents[1]?.framesReceived).toBe(report.agents[1]?.framesProduced);
  });

  it('is what an agent is that comes back too late', async (test) => {
    const run = await scene(test, {
      ...LONG,
      limits: { agentGraceUs: 200_000, onAgentLoss: 'degrade' },
    });
    await run.seen(inStage('load'));
    run.agent(1).cut();
    await run.seen((event) => event.type === 'agent' && event.state === 'lost');
    await expect(run.agent(1).comeBack()).rejects.toThrow('the link closed before welcome');
    expect(run.agent(1).received.at(-1)).toMatchObject({ type: 'rejected', code: 'unknown_run' });
    expect((await run.report()).agents[1]?.state).toBe('lost');
  });

  it('is what an agent is that leaves in the middle', async (test) => {
    const run = await scene(test, LONG);
    await run.seen(inStage('load'));
    const agent = run.agent(0);
    agent.say({
      type: 'finished',
      ...agent.resumeKey,
      lastSeq: agent.lastSeq,
      cpuSeconds: 1,
      rssBytesMax: 1,
    });
    const report = await run.report();
    expect(report.agents[0]).toMatchObject({ state: 'lost' });
    expect(report.verdict).toBe('aborted');
    expect(report.reasons.join()).toContain('agent-1 was lost: it left before the end of the run');
  });
});

describe.concurrent('frames', () => {
  const SHORT: PlanSketch = { stages: [{ name: 'load', activities: [publish], forUs: SECOND }] };

  it('count once, however often they come', async (test) => {
    const run = await scene(test, SHORT);
    await run.seen(inState('settling'));
    for (const frame of [...run.agent(0).sent].toReversed()) run.agent(0).sayBytes(frame);
    const report = await run.report();
    expect(report.groups['devices']?.counters['sent']).toBe(10);
    expect(report.validity.state).toBe('valid');
  });

  it('that are missing are a finding, and the run does not wait for them for ever', async (test) => {
    const run = await scene(test, SHORT, { scripts: [{ loseFrame: 2 }, {}] });
    const report = await run.report();
    const [agent] = report.agents;
    expect(agent?.framesReceived).toBe((agent?.framesProduced ?? 0) - 1);
    expect(finding(report, 'frames_missing')).toBeDefined();
    expect(report.validity.state).not.toBe('valid');
  });

  it('that no agent could have sent are refused, and the run goes on', async (test) => {
    const run = await scene(test, SHORT);
    await run.seen(inStage('load'));
    run.agent(0).sayBytes(Buffer.from('garbage'));
    const frame = await vi.waitUntil(() => run.agent(0).sent[0]);
    run.agent(1).sayBytes(frame);
    const report = await run.report();
    expect(report.verdict).toBe('pass');
    const warnings = run.events.flatMap((event) => (event.type === 'warning' ? [event.text] : []));
    expect(warnings.join('\n')).toContain('not JSON');
    expect(warnings.join('\n')).toContain('a frame of another agent');
  });
});

describe.concurrent('to stop a run', () => {
  const LONG: PlanSketch = {
    stages: [{ name: 'load', activities: [publish], forUs: 60 * SECOND }],
  };

  it('in order ends the load, waits for what is under way, and reports', async (test) => {
    const run = await scene(test, LONG);
    await run.seen(inStage('load'));
    run.handle.stop('graceful', 'signal');
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'cancelled', exitCode: 105 });
    expect(report.stages[0]?.endedBy).toBe('stopped');
    expect(run.agent(0).received).toContainEqual(expect.objectContaining({ mode: 'graceful' }));
    expect(report.agents.map((agent) => agent.state)).toEqual(['completed', 'completed']);
    expect(run.events.some(inState('settling'))).toBe(true);
  });

  it('hard cuts it off and waits for nothing but the last frames', async (test) => {
    const run = await scene(test, LONG, {
      scripts: [{ neverDrained: true }, { neverDrained: true }],
    });
    await run.seen(inStage('load'));
    run.handle.stop('graceful', 'api');
    await run.seen(inState('settling'));
    run.handle.stop('hard', 'api');
    const before = performance.now();
    const report = await run.report();
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(report).toMatchObject({ verdict: 'cancelled', exitCode: 103 });
    expect(run.agent(0).received).toContainEqual(expect.objectContaining({ mode: 'hard' }));
  });

  it('hard twice waits for nothing at all', async (test) => {
    const run = await scene(test, LONG, {
      scripts: [{ claimExtraFrames: 1 }, {}],
      timing: { hardStopUs: 60 * SECOND },
    });
    await run.seen(inStage('load'));
    run.handle.stop('hard', 'signal');
    await run.seen(inState('collecting'));
    run.handle.stop('hard', 'signal');
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'cancelled', exitCode: 105 });
  });

  it('before T leaves nothing behind', async (test) => {
    const run = await scene(test, LONG, { timing: { leadUs: 2 * SECOND } });
    await run.seen(inState('starting'));
    run.handle.stop('graceful', 'signal');
    const report = await run.report();
    expect(report).toMatchObject({ verdict: 'cancelled', exitCode: 105, stages: [] });
  });

  it('when it is over does nothing', async (test) => {
    const run = await scene(test, TWO_STAGES);
    const report = await run.report();
    run.handle.stop('hard', 'signal');
    expect(await run.handle.done).toBe(report);
    expect(report.verdict).toBe('pass');
  });

  it('does not wait for ever for agents that are never drained', async (test) => {
    const run = await scene(
      test,
      { stages: [{ activities: [publish], forUs: 200_000 }], drainUs: 200_000 },
      { scripts: [{ neverDrained: true }, {}] },
    );
    const report = await run.report();
    expect(report.verdict).toBe('pass');
    expect(report.notes.join()).toContain('drained');
  });
});

describe.concurrent('closing the controller', () => {
  it('ends its runs first', async (test) => {
    const run = await scene(test, {
      stages: [{ name: 'load', activities: [publish], forUs: 60 * SECOND }],
    });
    await run.seen(inStage('load'));
    await run.controller.close();
    expect((await run.handle.done).verdict).toBe('cancelled');
  });
});
