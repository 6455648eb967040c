import { readPlan } from '@squall/core/plan';
import { describe, expect, it, type TestContext } from 'vitest';
import { encodeSavedRun } from '../../src/run/checkpoint/run-codec.ts';
import { earlierRuns } from '../../src/service/earlier-runs.ts';
import type { RunState } from '../../src/run/run-handle.ts';
import type { RunOptions, Store } from '../../src/store/store.ts';
import { systemTime } from '../../src/time-source.ts';
import { savedRunOf } from '../checkpoint/saved-runs.ts';
import { newRun, planRecord, StoreFolder } from '../store/store-fixture.ts';

const PLAN = `
squall: 1
name: devices
vars: { rate: 5/s, password: none }
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:1883"] } }
groups:
  devices:
    target: broker
    clients: 10
    username: USER
    password: PASSWORD
    publish: { topic: "t/{{n}}", payload: 100B, rate: "{{rate}}" }
stages: [{ name: load, run: { devices: publish }, for: 10s }]
`;

const OPTIONS: RunOptions = { vars: {}, scale: 1, strict: true, timeoutUs: null, agents: 3 };

/** `20261130t12000<n>-aaaaaaa<n>`: ids sort by the time of submission. */
const idOf = (n: number) => `20261130t12000${n}-aaaaaaa${n + 2}`;

interface Left {
  readonly state: RunState;
  readonly options?: Partial<RunOptions>;
  readonly plan?: string;
  readonly checkpoint?: 'good' | 'bad';
}

/** A store as a controller leaves it that was killed with these runs. */
async function storeWith(test: TestContext, left: readonly Left[], text = PLAN): Promise<Store> {
  const folder = new StoreFolder();
  test.onTestFinished(() => folder.dispose());
  const store = await folder.open();
  await store.putPlan(planRecord('p1', { text }));
  for (const [n, { state, options, plan = 'p1', checkpoint }] of left.entries()) {
    const id = idOf(n);
    const more = { plan, labels: { build: '7' }, options: { ...OPTIONS, ...options } };
    await store.createRun(newRun(id, more));
    await store.updateRun(id, { state });
    if (checkpoint === undefined) continue;
    const good = await encodeSavedRun(savedRunOf(id));
    const bytes = checkpoint === 'good' ? good : good.subarray(0, 50);
    await store.saveCheckpoint(id, { savedMs: 1, state: bytes, agents: [] });
  }
  return store;
}

const plain = PLAN.replace('username: USER', '').replace('password: PASSWORD', '');

function takeOver(store: Store) {
  const plans = {
    read: (text: string, options: object) => Promise.resolve(readPlan(text, options)),
  };
  return earlierRuns({ store, plans, time: systemTime, version: '0.1.0' });
}

async function endOf(store: Store, n: number) {
  const run = await store.run(idOf(n));
  return {
    state: run?.state,
    verdict: run?.verdict,
    exitCode: run?.exitCode,
    why: run?.reasons[0],
  };
}

describe('runs of a controller that is gone', () => {
  it('that had not begun wait again, in the order in which they came', async (test) => {
    const left: Left[] = [
      { state: 'waiting' },
      { state: 'assigning', options: { vars: { rate: '20/s' }, timeoutUs: 60_000_000 } },
      { state: 'starting', options: { scale: 0.5, agents: null } },
    ];
    const store = await storeWith(test, left, plain);
    const { goingOn, waiting } = await takeOver(store);
    expect(goingOn).toEqual([]);
    expect(waiting.map(({ id }) => id)).toEqual([
      { full: idOf(0), short: 'aaaaaaa2' },
      { full: idOf(1), short: 'aaaaaaa3' },
      { full: idOf(2), short: 'aaaaaaa4' },
    ]);
    const [first, second, third] = waiting;
    expect(first?.options).toMatchObject({
      version: '0.1.0',
      strict: true,
      labels: { build: '7' },
    });
    expect(first?.plan.limits.agents.count).toBe(3);
    expect(second?.plan.vars['rate']).toBe('20/s');
    expect(second?.plan.limits.maxDurationUs).toBe(60_000_000);
    expect(third?.plan.groups[0]?.clients).toBe(5);
    expect(third?.plan.limits.agents.count).toBeNull();
  });

  it('that had begun are gone on with', async (test) => {
    const store = await storeWith(test, [{ state: 'running', checkpoint: 'good' }]);
    const chunk = { index: 0, bytes: Buffer.from('a minute') };
    await store.putTimeline(idOf(0), [chunk]);
    const { goingOn, waiting } = await takeOver(store);
    expect(waiting).toEqual([]);
    expect(goingOn).toHaveLength(1);
    expect(goingOn[0]?.record).toMatchObject({ id: idOf(0), state: 'running' });
    expect(goingOn[0]?.saved.id.full).toBe(idOf(0));
    expect(goingOn[0]?.known.map(({ index }) => index)).toEqual([0]);
  });

  it('that are over are left alone', async (test) => {
    const store = await storeWith(test, [{ state: 'running' }]);
    const end = { endedMs: 1, verdict: 'pass', validity: 'valid', exitCode: 0 } as const;
    await store.finishRun(idOf(0), { ...end, reasons: [], report: '{}' });
    expect(await takeOver(store)).toEqual({ goingOn: [], waiting: [] });
    expect(await store.run(idOf(0))).toMatchObject({ verdict: 'pass' });
  });

  it('that nothing can be done with end, and say why', async (test) => {
    const withSecret = PLAN.replace('USER', 'u').replace('PASSWORD', '"{{env.PASSWORD}}"');
    const left: Left[] = [
      { state: 'waiting' },
      { state: 'waiting', options: { vars: { password: '***' } } },
      { state: 'running' },
      { state: 'settling', checkpoint: 'bad' },
      { state: 'waiting', plan: 'another' },
      { state: 'waiting', options: { vars: { nobody: 'knows' } } },
    ];
    const store = await storeWith(test, left, withSecret);
    expect(await takeOver(store)).toEqual({ goingOn: [], waiting: [] });
    const over = { state: 'done', verdict: 'error', exitCode: 1 };
    const ends = await Promise.all(left.map((_, n) => endOf(store, n)));
    expect(ends).toEqual(
      [
        'keeps neither secrets nor files',
        'keeps neither secrets nor files',
        'had no checkpoint',
        'the checkpoint is damaged',
        'the plan is not there any more',
        'cannot read the plan',
      ].map((why) => ({ ...over, why: expect.stringContaining(why) })),
    );
  });
});
