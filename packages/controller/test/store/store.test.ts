import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEnd, Store } from '../../src/store/store.ts';
import { newRun, planRecord, StoreFolder } from './store-fixture.ts';

let folder: StoreFolder;
let store: Store;

beforeEach(async () => {
  folder = new StoreFolder();
  store = await folder.open();
});
afterEach(() => folder.dispose());

const PASSED: RunEnd = {
  endedMs: 9_000,
  verdict: 'pass',
  validity: 'valid',
  exitCode: 0,
  reasons: ['all thresholds hold'],
  report: '{"schema":"squall.report/1"}',
};

/** Closes the store and opens the same file again, as a controller does that was restarted. */
async function reopened(): Promise<Store> {
  await folder.close(store);
  store = await folder.open();
  return store;
}

describe('plans', () => {
  it('gives back what was put in, also after it was opened anew', async () => {
    const plan = planRecord('p1');
    expect(await store.putPlan(plan)).toEqual({ plan, created: true });
    expect(await (await reopened()).plan('p1')).toEqual(plan);
    expect(await store.plan('p2')).toBeNull();
  });

  it('keeps the first of two with the same hash', async () => {
    const first = planRecord('p1');
    await store.putPlan(first);
    const again = await store.putPlan({ ...planRecord('p2'), hash: first.hash });
    expect(again).toEqual({ plan: first, created: false });
    expect(await store.plan('p2')).toBeNull();
  });

  it('lists the newest first, page by page, each once', async () => {
    for (let n = 1; n <= 7; n++) {
      // Three a moment: the order must be whole where moments are equal.
      await store.putPlan(planRecord(`p${n}`, { createdMs: Math.ceil(n / 3) }));
    }
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await store.plans({ limit: 2, ...(after === undefined ? {} : { after }) });
      seen.push(...page.map((plan) => plan.id));
      after = page.at(-1)?.id;
      if (page.length < 2) break;
    }
    expect(seen).toEqual(['p7', 'p6', 'p5', 'p4', 'p3', 'p2', 'p1']);
  });
});

describe('runs', () => {
  it('enters a run as waiting, at revision 1', async () => {
    const run = newRun('r1', { labels: { team: 'a' }, notes: 'first' });
    expect(await store.createRun(run)).toBeNull();
    expect(await (await reopened()).run('r1')).toEqual({
      ...run,
      state: 'waiting',
      revision: 1,
      startedMs: null,
      endedMs: null,
      stage: null,
      verdict: null,
      validity: null,
      exitCode: null,
      reasons: [],
      hasReport: false,
    });
  });

  it('makes a revision of each change and leaves the rest as it is', async () => {
    await store.createRun(newRun('r1', { labels: { a: '1', b: '2' }, notes: 'n' }));
    await store.updateRun('r1', { state: 'running', startedMs: 6_000, stage: 'load' });
    const run = await store.updateRun('r1', { labels: { a: '3' } });
    expect(run).toMatchObject({
      state: 'running',
      startedMs: 6_000,
      stage: 'load',
      labels: { a: '3' },
      notes: 'n',
      revision: 3,
    });
    expect(await store.updateRun('r2', { notes: 'x' })).toBeNull();
  });

  it('ends a run with its report at once, and forgets its checkpoint', async () => {
    await store.createRun(newRun('r1'));
    await store.saveCheckpoint('r1', { savedMs: 1, state: bytes('x'), agents: [] });
    const ended = await store.finishRun('r1', PASSED);
    expect(ended).toMatchObject({ state: 'done', verdict: 'pass', exitCode: 0, hasReport: true });
    expect(await store.run('r1')).toEqual(ended);
    expect(await store.report('r1')).toBe(PASSED.report);
    expect(await store.checkpoint('r1')).toBeNull();
  });

  it('finishes a run that was deleted meanwhile as nothing', async () => {
    expect(await store.finishRun('r1', PASSED)).toBeNull();
    expect(await store.report('r1')).toBeNull();
  });

  it('lists by labels, plan, name, state and verdict, newest first', async () => {
    await store.createRun(newRun('r1', { labels: { team: 'a', env: 'ci' } }));
    await store.createRun(newRun('r2', { labels: { team: 'a' }, plan: 'p2' }));
    await store.createRun(newRun('r3', { labels: { team: 'b' }, name: 'other' }));
    await store.finishRun('r2', PASSED);
    const ids = async (query: Parameters<Store['runs']>[0]) =>
      (await store.runs(query)).map((run) => run.id);
    expect(await ids({ limit: 10 })).toEqual(['r3', 'r2', 'r1']);
    expect(await ids({ limit: 10, labels: { team: 'a' } })).toEqual(['r2', 'r1']);
    expect(await ids({ limit: 10, labels: { team: 'a', env: 'ci' } })).toEqual(['r1']);
    expect(await ids({ limit: 10, plan: 'p2' })).toEqual(['r2']);
    expect(await ids({ limit: 10, name: 'other' })).toEqual(['r3']);
    expect(await ids({ limit: 10, state: 'done' })).toEqual(['r2']);
    expect(await ids({ limit: 10, state: 'active' })).toEqual(['r3', 'r1']);
    expect(await ids({ limit: 10, verdict: 'pass' })).toEqual(['r2']);
    expect(await ids({ limit: 1 })).toEqual(['r3']);
    expect(await ids({ limit: 10, after: 'r2' })).toEqual(['r1']);
  });

  it('finds a run by the labels that it has now', async () => {
    await store.createRun(newRun('r1', { labels: { team: 'a' } }));
    await store.updateRun('r1', { labels: { team: 'b' } });
    expect(await store.runs({ limit: 10, labels: { team: 'a' } })).toEqual([]);
    expect(await store.runs({ limit: 10, labels: { team: 'b' } })).toHaveLength(1);
  });

  it('takes hostile labels and notes for the text that they are', async () => {
    const labels = { "'; drop table runs; --": '" or 1=1 %_' };
    await store.createRun(newRun('r1', { labels, notes: '\n\ud83d\ude00' }));
    expect(await store.runs({ limit: 10, labels })).toMatchObject([{ labels }]);
    expect((await store.run('r1'))?.notes).toBe('\n\ud83d\ude00');
  });

  it('deletes a run with all that belongs to it, and nothing else', async () => {
    for (const id of ['r1', 'r2']) {
      await store.createRun(newRun(id, { labels: { a: '1' } }));
      await store.putTimeline(id, [{ index: 0, bytes: bytes(id) }]);
      await store.saveCheckpoint(id, { savedMs: 1, state: bytes(id), agents: [] });
    }
    expect(await store.deleteRun('r1')).toBe(true);
    expect(await store.deleteRun('r1')).toBe(false);
    expect(await store.run('r1')).toBeNull();
    expect(await store.timeline('r1', 0, 9)).toEqual([]);
    expect(await store.checkpoint('r1')).toBeNull();
    expect(await store.runs({ limit: 9, labels: { a: '1' } })).toHaveLength(1);
    expect(await store.timeline('r2', 0, 9)).toHaveLength(1);
    expect(await store.checkpoint('r2')).not.toBeNull();
  });
});

describe('idempotency keys', () => {
  it('enters the run of the first use and names it at the second', async () => {
    const key = { key: 'k', request: 'h' };
    expect(await store.createRun(newRun('r1'), key)).toBeNull();
    expect(await store.createRun(newRun('r2'), key)).toEqual({ request: 'h', run: 'r1' });
    expect(await store.run('r2')).toBeNull();
    expect(await (await reopened()).keyUse('k')).toEqual({ request: 'h', run: 'r1' });
    expect(await store.keyUse('other')).toBeNull();
  });

  it('lets one of many that come at once win', async () => {
    const key = { key: 'k', request: 'h' };
    const uses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => store.createRun(newRun(`r${n}`), key)),
    );
    expect(uses.filter((use) => use === null)).toHaveLength(1);
    expect(await store.runs({ limit: 20 })).toHaveLength(1);
  });
});

describe('time line', () => {
  it('gives the chunks asked for, in order, the newest form of each', async () => {
    await store.putTimeline('r1', [
      { index: 1, bytes: bytes('b') },
      { index: 0, bytes: bytes('a') },
    ]);
    await store.putTimeline('r1', [
      { index: 1, bytes: bytes('B') },
      { index: 2, bytes: bytes('c') },
    ]);
    const texts = async (from: number, to: number) =>
      (await store.timeline('r1', from, to)).map((chunk) => [chunk.index, text(chunk.bytes)]);
    expect(await texts(0, 9)).toEqual([
      [0, 'a'],
      [1, 'B'],
      [2, 'c'],
    ]);
    expect(await texts(1, 1)).toEqual([[1, 'B']]);
    expect(await texts(5, 9)).toEqual([]);
  });
});

function ledgerPage(agent: string, page: number, content: string) {
  return { agent, worker: 0, page, bytes: bytes(content) };
}

describe('checkpoints', () => {
  it('keeps the newest whole: state, positions, open chunks', async () => {
    const agents = [
      { agent: 'a', epoch: 1, seq: 7 },
      { agent: 'b', epoch: 2, seq: 0 },
    ];
    await store.saveCheckpoint('r1', { savedMs: 1, state: bytes('old'), agents });
    await store.saveCheckpoint('r1', {
      savedMs: 2,
      state: bytes('new'),
      agents: agents.slice(0, 1),
      chunks: [{ index: 3, bytes: bytes('open') }],
    });
    const known = await (await reopened()).checkpoint('r1');
    expect(known).toMatchObject({ savedMs: 2, agents: agents.slice(0, 1) });
    expect(text(known?.state)).toBe('new');
    expect(await store.timeline('r1', 3, 3)).toHaveLength(1);
    expect(await store.checkpoint('r2')).toBeNull();
  });

  it('adds pages of the ledger to those that are there, each once, until the run is over', async () => {
    const save = (...pages: ReturnType<typeof ledgerPage>[]) =>
      store.saveCheckpoint('r1', { savedMs: 1, state: bytes('x'), agents: [], pages });
    const contents = async () => {
      const pages = (await store.checkpoint('r1'))?.pages ?? [];
      return pages.map((one) => `${one.agent}${one.page}${text(one.bytes)}`).toSorted();
    };
    await store.createRun(newRun('r1'));
    await save(ledgerPage('a', 0, 'first'));
    await save();
    await save(ledgerPage('a', 1, 'second'), ledgerPage('b', 0, 'third'));
    await save(ledgerPage('a', 1, 'second'));
    await reopened();
    expect(await contents()).toEqual(['a0first', 'a1second', 'b0third']);
    await store.finishRun('r1', PASSED);
    await save();
    expect(await contents()).toEqual([]);
    await save(ledgerPage('a', 0, 'again'));
    await store.deleteRun('r1');
    await save();
    expect(await contents()).toEqual([]);
  });
});

describe('purge', () => {
  it('deletes runs that ended before, in any number, and plans without a run', async () => {
    for (let n = 0; n < 45; n++) {
      const id = `r${String(n).padStart(2, '0')}`;
      await store.putPlan(planRecord(`plan-${n}`, { createdMs: n < 41 ? 1_000 : 9_999 }));
      await store.createRun(newRun(id, { plan: `plan-${n}` }));
      if (n < 43) await store.finishRun(id, { ...PASSED, endedMs: n < 42 ? 1_000 : 2_000 });
    }
    expect(await store.purge({ runsEndedBeforeMs: 2_000, keysBeforeMs: 0 })).toBe(42);
    expect((await store.runs({ limit: 100 })).map((run) => run.id)).toEqual(['r44', 'r43', 'r42']);
    expect((await store.plans({ limit: 100 })).map((plan) => plan.id).toSorted()).toEqual([
      'plan-41',
      'plan-42',
      'plan-43',
      'plan-44',
    ]);
  });

  it('forgets old keys and keeps all runs where there is no limit', async () => {
    await store.createRun(newRun('r1', { submittedMs: 10 }), { key: 'k', request: 'h' });
    await store.finishRun('r1', { ...PASSED, endedMs: 20 });
    expect(await store.purge({ runsEndedBeforeMs: null, keysBeforeMs: 11 })).toBe(0);
    expect(await store.keyUse('k')).toBeNull();
    expect(await store.run('r1')).not.toBeNull();
  });
});

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

function text(content: Uint8Array | undefined): string {
  return new TextDecoder().decode(content);
}
