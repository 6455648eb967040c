import { Judge } from '@squall/core/thresholds';
import { describe, expect, it } from 'vitest';
import { counter, only, planOf, sliceOf } from './scene.ts';

function judged(text: string, lost: number, doubt: string | null = null) {
  const judge = new Judge({ plan: planOf([text]), agents: ['a'] });
  for (const n of [0, 1]) judge.add('a', sliceOf({ n }, [counter('received', 10)]));
  judge.takeLedger([counter('lost', lost), counter('expected', 20)], doubt);
  return only(judge.finish());
}

describe('thresholds on the ledger', () => {
  it('hold where nothing was lost', () => {
    expect(judged('lost: count == 0', 0)).toMatchObject({ state: 'pass', observed: 0 });
  });

  it('do not where something was', () => {
    expect(judged('lost: count == 0', 3)).toMatchObject({ state: 'fail', observed: 3 });
  });

  it('know what it is a share of', () => {
    expect(judged('lost: share < 10%', 3)).toMatchObject({ state: 'fail', observed: 0.15 });
    expect(judged('lost: share < 20%', 3)).toMatchObject({ state: 'pass' });
  });

  it('are inconclusive where the ledger is not whole, and say why', () => {
    const result = judged('lost: count == 0', 0, 'the ledger of agent b is not complete');
    expect(result).toMatchObject({
      state: 'inconclusive',
      remark: 'the ledger of agent b is not complete',
    });
  });

  it('are inconclusive where there is none', () => {
    const judge = new Judge({ plan: planOf(['lost: count == 0']), agents: ['a'] });
    judge.add('a', sliceOf({ n: 0 }, [counter('received', 10)]));
    const result = only(judge.finish());
    expect(result).toMatchObject({ state: 'inconclusive', remark: 'delivery was not verified' });
  });
});
