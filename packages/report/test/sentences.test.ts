import { type BalanceState, balanceReason } from '@squall/core/balance';
import { decide } from '@squall/core/report';
import type { ThresholdResult } from '@squall/core/thresholds';
import { REPORT_FORMATS } from '@squall/report';
import { describe, expect, test } from 'vitest';
import { reportOf } from './report-of.ts';

/** As the model words them: whoever changes a sentence there sees here that its Chinese is gone. */
function reasonsOf(...states: readonly ThresholdResult['state'][]): string[] {
  return decide({
    outcome: { kind: 'completed' },
    validity: { state: 'valid', findings: [] },
    thresholds: states.map(resultOf),
    emptiness: [],
    generator: { agents: new Map() },
    strict: false,
  }).reasons;
}

function resultOf(state: ThresholdResult['state']): ThresholdResult {
  const leadsTo = state === 'no_data' ? 'fail' : state;
  return {
    id: null,
    text: 'publish_time: p(99) < 5ms over 1s',
    state,
    leadsTo,
    expected: 'p(99) < 5ms',
    observed: 7_000,
    unit: 'us',
    observedText: 'p(99) = 7ms',
    worst: null,
    windows: 4,
    failedWindows: 2,
    partialWindows: 0,
    aborted: false,
    remark: state === 'inconclusive' ? 'few times' : '',
  };
}

function balance(more: Partial<BalanceState>): string {
  return balanceReason({
    equation: 'devices.acked = rows',
    values: { 'devices.acked': 1_000, rows: 990 },
    unresolved: 0,
    difference: -10,
    share: -0.01,
    holds: false,
    isBeyond: false,
    queued: {},
    doubt: null,
    ...more,
  });
}

/** The Chinese of a sentence as the page shows it; null: it is shown in English. */
function chineseOf(sentence: string): string | null {
  const page = REPORT_FORMATS.html.draw(reportOf({ reasons: [sentence] }));
  const list = /<ol class="reasons">([\s\S]*?)<\/ol>/.exec(page)?.[1] ?? '';
  return /<span lang="zh-Hans"><bdi>([\s\S]*?)<\/bdi>/.exec(list)?.[1] ?? null;
}

describe('sentences of a run', () => {
  test.each([
    ['that passed', reasonsOf('pass', 'pass')],
    ['with one threshold', reasonsOf('pass')],
    ['without thresholds', reasonsOf()],
    ['that failed', reasonsOf('fail', 'no_data', 'pass')],
    ['that nobody can tell', reasonsOf('inconclusive')],
    ['with a warning', reasonsOf('warn', 'pass')],
    ['whose balance is less', [balance({})]],
    ['whose balance is more', [balance({ difference: 10 })]],
    ['whose balance holds', [balance({ holds: true })]],
    ['whose balance is open', [balance({ doubt: 'rows went backwards' })]],
  ])('%s have a Chinese form', (_name, sentences) => {
    expect(sentences.length).toBeGreaterThan(0);
    for (const sentence of sentences) expect(chineseOf(sentence)).toMatch(/\p{Script=Han}/u);
  });

  test('keep their figures and names in it', () => {
    const [sentence = ''] = reasonsOf('fail');
    expect(chineseOf(sentence)).toBe(
      '阈值“publish_time: p(99) &lt; 5ms over 1s”不成立：p(99) = 7ms，4 个窗口中有 2 个未达标',
    );
    expect(chineseOf(balance({}))).toContain('比第一项少 10 (1%)');
  });

  test('that are not known are shown as they are', () => {
    expect(chineseOf('the moon was full')).toBeNull();
  });
});
