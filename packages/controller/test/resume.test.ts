import type { Report } from '@squall/core/report';
import fc from 'fast-check';
import { describe, expect, it, type TestContext } from 'vitest';
import type { SavedRun } from '../src/run/checkpoint/saved-run.ts';
import { Lives, type LivesOptions } from './lives.ts';
import { connect, planOf, type PlanSketch, publish, subscribe } from './plans.ts';
import { inStage, inState } from './run-fixture.ts';

const SECOND = 1_000_000;

/** Connects, publishes for two seconds. Each of two agents has five messages a second. */
const PLAN: PlanSketch = {
  stages: [
    { name: 'connect', activities: [connect] },
    { name: 'publish', activities: [publish], forUs: 2 * SECOND },
  ],
  thresholds: [
    'publish_failed: count == 0',
    'sent: rate >= 9/s over 1s in publish',
    'publish_time: p(99) < 1s over 1s for 2 in publish',
  ],
  limits: { agentGraceUs: 10 * SECOND },
};

async function begin(
  test: TestContext,
  sketch: PlanSketch,
  more: Omit<LivesOptions, 'plan'> = {},
): Promise<Lives> {
  const lives = await Lives.begin({ plan: planOf(sketch), ...more });
  test.onTestFinished(() => lives.close());
  return lives;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a run must come to, whatever became of its controller. */
function figures(report: Report) {
  return {
    verdict: report.verdict,
    exitCode: report.exitCode,
    validity: report.validity.state,
    counters: report.groups['devices']?.counters,
    times: report.groups['devices']?.times['publish_time']?.count,
    stages: report.stages.map(({ name, endedBy }) => [name, endedBy]),
    thresholds: report.thresholds.map(({ state }) => state),
    agents: report.agents.map(({ id, state }) => [id, state]),
    frames: report.agents.map((agent) => agent.framesReceived === agent.framesProduced),
    unbalanced: report.books.filter(({ holds }) => !holds),
  };
}

const WHOLE = {
  verdict: 'pass',
  exitCode: 0,
  validity: 'valid',
  counters: expect.objectContaining({ connected: 4, sent: 20, acked: 20 }),
  times: 20,
  stages: [
    ['connect', 'complete'],
    ['publish', 'duration'],
  ],
  thresholds: ['pass', 'pass', 'pass'],
  agents: [
    ['agent-1', 'completed'],
    ['agent-2', 'completed'],
  ],
  frames: [true, true],
  unbalanced: [],
};

describe.concurrent('a controller that is killed and started again', { timeout: 20_000 }, () => {
  it('goes on in the middle of a stage, and nothing is missing or counted twice', async (test) => {
    const lives = await begin(test, PLAN);
    await lives.seen(inStage('publish'));
    await sleep(1_200);
    await lives.rebirth(300);
    const report = await lives.report();
    expect(figures(report)).toEqual(WHOLE);
    expect(report.stages[1]?.durationUs).toBe(2 * SECOND);
    expect(report.notes.join('\n')).toMatch(
      /^The controller was started again at \d{4}-\d\d-\d\dT[\d:.]+Z, [\d.]+m?s into the run, and went on from a checkpoint [\d.]+m?s old/m,
    );
    expect(lives.now.events.filter(inStage('publish'))).toHaveLength(1);
    // The agents were told nothing else than before.
    for (const agent of lives.agents) {
      const orders = agent.received.map((message) => message.type);
      expect(orders).not.toContain('assign');
      expect(orders).not.toContain('stop');
    }
  });

  it('is there while the load ends by time, and finds everyone settling', async (test) => {
    const lives = await begin(test, PLAN);
    await lives.seen(inStage('publish'));
    await sleep(1_500);
    await lives.rebirth(1_000);
    expect(figures(await lives.report())).toEqual(WHOLE);
  });

  it('starts the clock that it was about to announce', async (test) => {
    const stages = [{ name: 'all', activities: [publish], forUs: SECOND }];
    const lives = await begin(test, { ...PLAN, stages, thresholds: [] });
    await lives.seen(inStage('all', 'prologue'));
    await lives.rebirth(200);
    const report = await lives.report();
    const clocks = await Promise.all(lives.agents.map((agent) => agent.next('clock')));
    expect(new Set(clocks.map(({ at }) => at)).size).toBe(1);
    expect(figures(report)).toMatchObject({ verdict: 'pass', validity: 'valid', unbalanced: [] });
    expect(report.groups['devices']?.counters['sent']).toBe(10);
    expect(report.stages[0]?.durationUs).toBe(SECOND);
  });

  it('keeps the clock that it has announced', async (test) => {
    const stages = [{ name: 'all', activities: [publish], forUs: SECOND }];
    const timing = { leadUs: 600_000 };
    const lives = await begin(test, { ...PLAN, stages, thresholds: [] }, { timing });
    const { at } = await lives.agent(0).next('clock');
    await lives.rebirth(100);
    expect(await lives.agent(0).next('clock')).toMatchObject({ at });
    const report = await lives.report();
    expect(figures(report)).toMatchObject({ verdict: 'pass', validity: 'valid' });
    expect(report.stages[0]?.durationUs).toBe(SECOND);
    expect(report.groups['devices']?.counters['sent']).toBe(10);
  });

  it('keeps T, which it has announced', async (test) => {
    const lives = await begin(test, PLAN, { timing: { leadUs: 700_000 } });
    const { at } = await lives.agent(0).next('advance');
    await lives.rebirth(100);
    expect(await lives.agent(0).next('advance')).toMatchObject({ stage: 0, at });
    expect(figures(await lives.report())).toEqual(WHOLE);
  });

  it('announces another T where it died before anyone had heard of one', async (test) => {
    const lives = await begin(test, PLAN, { timing: { leadUs: 300_000 } });
    lives.store.afterSave = () => lives.kill();
    await lives.seen(inState('starting'));
    await sleep(700);
    lives.store.afterSave = () => undefined;
    const { startUs } = await lives.saved();
    await lives.startAgain();
    await lives.comeBack();
    const { at } = await lives.agent(0).next('advance');
    expect(at).toBeGreaterThan(startUs + SECOND);
    expect(await lives.agent(1).next('advance')).toMatchObject({ at });
    const report = await lives.report();
    expect(figures(report)).toEqual(WHOLE);
    expect(report.run.durationUs).toBeLessThan(4 * SECOND);
  });

  it('goes on in a stage that ends by a condition', async (test) => {
    const until = {
      text: 'devices.sent >= 20',
      subject: 'devices',
      metric: 'sent',
      op: '>=' as const,
      value: 20,
      fromRun: false,
    };
    const lives = await begin(test, { ...PLAN, stages: [{ activities: [publish], until }] });
    await lives.seen(inStage('stage-1'));
    await sleep(1_200);
    await lives.rebirth(100);
    const report = await lives.report();
    expect(report.stages[0]?.endedBy).toBe('condition');
    const sent = report.groups['devices']?.counters['sent'] ?? 0;
    expect(sent).toBeGreaterThanOrEqual(20);
    expect(report.validity.state).toBe('valid');
    expect(report.notes.join()).toContain(`at its end the value was ${sent}.`);
  });

  it('ends the stage at the moment that it has announced', async (test) => {
    const stages = [
      { name: 'connect', activities: [connect] },
      { name: 'publish', activities: [publish], forUs: SECOND },
    ];
    const timing = { leadUs: 600_000 };
    const lives = await begin(test, { ...PLAN, stages, thresholds: [] }, { timing });
    const { at } = await lives.agent(0).next('advance', ({ stage }) => stage === 1);
    await lives.rebirth(100);
    const again = await lives.agent(0).next('advance', ({ stage }) => stage === 1);
    expect(again.at).toBe(at);
    const report = await lives.report();
    expect(report.stages.map(({ endedBy }) => endedBy)).toEqual(['complete', 'duration']);
    expect(report.groups['devices']?.counters['sent']).toBe(10);
  });

  it('goes on settling until nothing is received any more', async (test) => {
    const lives = await begin(
      test,
      {
        stages: [{ name: 'load', activities: [subscribe, publish], forUs: SECOND }],
        subscribes: true,
        settle: { quietUs: SECOND, maxUs: 10 * SECOND },
        limits: { agentGraceUs: 10 * SECOND },
      },
      { scripts: [{ receiveInSettle: 2, ledger: { sent: 5, arrived: 5 } }, {}] },
    );
    await lives.seen(inState('settling'));
    await sleep(1_300);
    await lives.rebirth(200);
    const report = await lives.report();
    expect(report.groups['devices']?.counters['received']).toBe(2);
    expect(figures(report)).toMatchObject({ verdict: 'pass', validity: 'valid', unbalanced: [] });
  });

  it('collects what is left, from agents that have finished already', async (test) => {
    const lives = await begin(test, PLAN);
    await Promise.all(lives.agents.map((agent) => agent.next('finish')));
    await lives.rebirth();
    expect(figures(await lives.report())).toEqual(WHOLE);
    expect(lives.now.events.some(inState('settling'))).toBe(false);
  });

  it('writes the report of a run that was over, though its agents are gone', async (test) => {
    const lives = await begin(test, PLAN);
    const before = await lives.report();
    lives.kill();
    await lives.startAgain();
    const report = await lives.report();
    expect(figures(report)).toEqual(figures(before));
    expect(report.run.durationUs).toBe(before.run.durationUs);
    expect(report.run.startedAt).toBe(before.run.startedAt);
  });

  it('goes on with the end of a run that was being stopped', async (test) => {
    const lives = await begin(test, { ...PLAN, stages: [{ name: 'load', forUs: 60 * SECOND }] });
    await lives.seen(inStage('load'));
    lives.now.handle.stop('graceful', 'api');
    await lives.agent(0).next('stop');
    await lives.rebirth(100);
    const report = await lives.report();
    expect(report).toMatchObject({ verdict: 'cancelled', exitCode: 103 });
    expect(report.stages[0]?.endedBy).toBe('stopped');
    expect(report.agents.map(({ state }) => state)).toEqual(['completed', 'completed']);
  });

  it('is killed again and again', async (test) => {
    const lives = await begin(test, PLAN);
    await lives.seen(inStage('publish'));
    for (let death = 0; death < 4; death++) {
      await sleep(350);
      await lives.rebirth(50);
    }
    const report = await lives.report();
    expect(figures(report)).toEqual(WHOLE);
    expect(report.notes.filter((note) => note.includes('was started again'))).toHaveLength(4);
  });
});

describe.concurrent('a controller that is killed at any moment', { timeout: 30_000 }, () => {
  const moments = fc.array(fc.integer({ min: 0, max: 1_200 }), { minLength: 1, maxLength: 4 });
  const stories = fc.sample(fc.tuple(moments, fc.integer({ min: 0, max: 400 })), 12);

  it.for(stories)('after %j ms each, for %d ms: comes to the same figures', async (story, test) => {
    const [lives, awayMs] = [story[0], story[1]];
    const run = await begin(test, PLAN);
    await run.agent(0).next('advance');
    for (const ms of lives) {
      await sleep(ms);
      if (run.now.handle.state !== 'done') await run.rebirth(awayMs);
    }
    expect(figures(await run.report())).toEqual(WHOLE);
  });
});

describe.concurrent('agents of a controller that was away', { timeout: 20_000 }, () => {
  it('are lost when they do not come back within their grace', async (test) => {
    const limits = { agentGraceUs: 700_000, onAgentLoss: 'degrade' } as const;
    const lives = await begin(test, { ...PLAN, limits });
    await lives.seen(inStage('publish'));
    await sleep(300);
    lives.kill();
    await lives.startAgain();
    await lives.comeBack([lives.agent(0)]);
    const report = await lives.report();
    expect(report.agents.map(({ state }) => state)).toEqual(['completed', 'lost']);
    expect(report.agents[1]?.reason).toContain('did not come back');
    expect(report.validity.state).toBe('degraded');
    expect(report.verdict).not.toBe('aborted');
  });

  it('are lost when they have given up before', async (test) => {
    const lives = await begin(test, PLAN);
    await lives.seen(inStage('publish'));
    await sleep(300);
    lives.kill();
    await lives.startAgain();
    const late = lives.agent(1);
    late.die();
    late.url = lives.now.controller.url;
    await Promise.all([late.join(), lives.comeBack([lives.agent(0)])]);
    const report = await lives.report();
    expect(report).toMatchObject({ verdict: 'aborted', exitCode: 111 });
    expect(report.agents[1]?.reason).toBe('it has given up its share');
  });

  it('are not judged before they had the time to say what they did meanwhile', async (test) => {
    const thresholds = ['sent: count >= 9 over 1s in load, abort'];
    const stages = [{ name: 'load', activities: [publish], forUs: 6 * SECOND }];
    const lives = await begin(test, { ...PLAN, stages, thresholds });
    await lives.seen(inStage('load'));
    await sleep(1_500);
    lives.kill();
    await sleep(1_500);
    await lives.startAgain();
    // One of them alone looks like half of the load, for longer than a window waits.
    await lives.comeBack([lives.agent(0)]);
    await sleep(2_300);
    await lives.comeBack([lives.agent(1)]);
    const report = await lives.report();
    expect(report.thresholds[0]).toMatchObject({ state: 'pass', windows: 6 });
    expect(report.stages[0]?.endedBy).toBe('duration');
  });
});

describe.concurrent('frames', { timeout: 20_000 }, () => {
  it('are acknowledged by what is in a checkpoint, never by what is only folded', async (test) => {
    const lives = await begin(test, PLAN);
    await lives.seen(inStage('publish'));
    await sleep(300);
    lives.store.trouble = 'the store has no room left';
    await sleep(300);
    const [before] = acknowledged(lives);
    await sleep(1_000);
    expect(acknowledged(lives)[0]).toBe(before);
    expect(lives.agent(0).lastSeq).toBeGreaterThan(before ?? 0);
    expect(lives.warnings()).toContain('no checkpoint can be saved: the store has no room left');
    lives.store.trouble = null;
    const report = await lives.report();
    expect(figures(report)).toEqual(WHOLE);
    expect(lives.warnings().match(/no checkpoint can be saved/g)).toHaveLength(1);
    expect(report.notes.join()).toContain('checkpoints can be saved again');
    for (const agent of lives.agents) {
      await agent.next('frame_ack', ({ seq }) => seq === agent.lastSeq);
    }
    for (const { agent, seq } of lives.store.newest?.agents ?? []) {
      expect(seq).toBe(lives.agents.find(({ id }) => id === agent)?.lastSeq);
    }
  });

  it('survive a store that never works, as long as the controller does', async (test) => {
    const lives = await begin(test, PLAN);
    lives.store.trouble = 'the store is read-only';
    const report = await lives.report();
    expect(report.groups['devices']?.counters).toMatchObject({ sent: 20, acked: 20 });
    expect(report.notes.join()).toContain('the store is read-only');
    expect(lives.store.count).toBe(0);
  });
});

describe.concurrent('a checkpoint', { timeout: 20_000 }, () => {
  it('holds no secret', async (test) => {
    const lives = await begin(test, PLAN);
    await lives.report();
    expect(JSON.stringify(await lives.saved())).not.toContain('hush');
  });

  it('of another boot or host ends the run, with a report of what it has', async (test) => {
    const lives = await begin(test, PLAN);
    await lives.seen(inStage('publish'));
    await sleep(1_300);
    while (sentIn(await lives.saved()) < 10) await sleep(50);
    lives.kill();
    await lives.startAgain({ clockDomain: 'another boot' });
    const report = await lives.report();
    expect(report.verdict).toBe('error');
    expect(report.reasons[0]).toContain('on another host, or after a reboot');
    expect(report.groups['devices']?.counters['sent']).toBe(10);
    expect(report.agents.map(({ state }) => state)).toEqual(['lost', 'lost']);
    // Agents that are at work still are told that nobody waits for them.
    await expect(lives.comeBack()).rejects.toThrow('the link closed before welcome');
    expect(lives.agent(0).received.at(-1)).toMatchObject({ code: 'unknown_run' });
  });
});

function sentIn({ measured }: SavedRun): number {
  const sent = measured.aggregate.series.filter(({ key }) => key.metric === 'sent');
  return sent.reduce((sum, { value }) => sum + value, 0);
}

/** The newest `frame_ack` of each agent. */
function acknowledged(lives: Lives): number[] {
  return lives.agents.map((agent) =>
    agent.received.reduce((seq, one) => (one.type === 'frame_ack' ? one.seq : seq), 0),
  );
}
