import type { Progress } from '@squall/controller';
import { SquallError } from '@squall/core/errors';
import type { Report } from '@squall/core/report';
import { describe, expect, test } from 'vitest';
import { describeFailure, failureLine } from '../src/terminal/failure.ts';
import { LiveView } from '../src/terminal/live-view.ts';
import { progressBlock, progressLine } from '../src/terminal/progress-text.ts';
import { styleFor } from '../src/terminal/style.ts';
import { reportSummary } from '../src/terminal/summary.ts';
import { textTable } from '../src/terminal/text-table.ts';

const plain = styleFor({}, {});
const ESCAPE = '\u001B';

const progress: Progress = {
  stage: { index: 1, name: 'publish' },
  phase: 'main',
  elapsedUs: 9_000_000,
  stageElapsedUs: 5_000_000,
  stageLengthUs: 20_000_000,
  targetPerS: 300,
  clients: 320,
  connections: 319,
  totals: { sent: 1_500, acked: 1_499, disconnected: 1 },
  rates: { sent: 300, acked: 299 },
  times: { publish_time: { p50Us: 900, p99Us: 3_200 } },
  agents: [
    { id: 'agent-1', state: 'active', loopDelayP99Us: 1_000, rssBytes: 1 },
    { id: 'agent-2', state: 'lost', loopDelayP99Us: null, rssBytes: null },
  ],
};

describe('style', () => {
  test('colours go to a terminal only, and never against NO_COLOR', () => {
    expect(styleFor({ isTTY: true }, {}).red('x')).toBe(`${ESCAPE}[31mx${ESCAPE}[39m`);
    expect(styleFor({ isTTY: true }, { NO_COLOR: '1' }).red('x')).toBe('x');
    expect(styleFor({ isTTY: true }, { NO_COLOR: '' }).colours).toBe(true);
    expect(styleFor({ isTTY: true }, { TERM: 'dumb' }).red('x')).toBe('x');
    expect(styleFor({ isTTY: false }, {}).red('x')).toBe('x');
  });
});

describe('failures', () => {
  test('an expected error is message, place, cause and next step, without a stack', () => {
    const cause = new Error('EACCES: permission denied');
    const error = new SquallError('SQ_OUTPUT', 'no report can be written', {
      path: '/out',
      hint: 'choose another folder',
      cause,
    });
    expect(describeFailure(error, plain)).toBe(
      [
        'error SQ_OUTPUT: no report can be written',
        '  at     /out',
        '  cause  EACCES: permission denied',
        '  next   choose another folder',
        '',
      ].join('\n'),
    );
    expect(failureLine(error, plain)).toBe(
      'error SQ_OUTPUT: no report can be written · at: /out · cause: EACCES: permission denied · next: choose another folder\n',
    );
  });

  test('a fault of ours shows its stack', () => {
    expect(describeFailure(new TypeError('x is not a function'), plain)).toMatch(
      /at .*terminal\.test/,
    );
  });

  test('a circle of causes ends', () => {
    const error = new Error('a');
    error.cause = error;
    const outer = new SquallError('SQ_INTERNAL', 'outer', { cause: error });
    expect(describeFailure(outer, plain).split('\n').length).toBeLessThan(10);
  });
});

describe('progress', () => {
  test('one line tells stage, time, clients, rates, latency and trouble', () => {
    expect(progressLine(progress)).toBe(
      'publish  00:05/00:20  clients 319/320  sent 300/s of 300/s  acked 299/s  latency p99 3.2ms  disconnected 1',
    );
  });

  test('the rate that the stage is to have stands beside the one that is sent', () => {
    expect(progressLine({ ...progress, targetPerS: 412.4 })).toContain('sent 300/s of 412/s');
    expect(progressLine({ ...progress, targetPerS: 0.25 })).toContain('sent 300/s of 15/m');
    expect(progressLine({ ...progress, targetPerS: null })).toContain('sent 300/s  acked');
    expect(progressBlock({ ...progress, targetPerS: 412.4 }, plain).join('\n')).toContain(
      '300/s of 412/s',
    );
  });

  test('at full speed the time from sent to acknowledged is the latency', () => {
    const times = { service_time: { p50Us: 900, p99Us: 7_000 } };
    expect(progressLine({ ...progress, times })).toContain('latency p99 7ms');
    expect(progressBlock({ ...progress, times }, plain)).toContain('latency  p50 900us · p99 7ms');
  });

  test('a stage of unknown length shows the time alone; a calm run says so', () => {
    const calm = { ...progress, stageLengthUs: null, totals: { sent: 1 } };
    expect(progressLine(calm)).toContain('publish  00:05  clients');
    expect(progressLine(calm)).toContain('no failures');
  });

  test('the block names agents that are not at work', () => {
    const block = progressBlock(progress, plain).join('\n');
    expect(block).toContain('1 of 2 at work · agent-2 lost');
    expect(block).toContain('██████░░░░');
  });

  test('says when the agents clean up', () => {
    expect(progressLine({ ...progress, phase: 'cleanup' })).toMatch(/^cleaning up {2}/);
  });
});

describe('live view', () => {
  test('without a terminal: a line with the time in UTC every few seconds, no control codes', () => {
    const { view, text, later } = viewOn({});
    view.progress(progress);
    later(1_000);
    view.progress(progress);
    later(1_000);
    view.progress(progress);
    expect(text().split('\n')).toHaveLength(3);
    expect(text()).toMatch(/^2026-11-30T17:30:55Z {2}publish/);
    expect(text()).not.toContain(ESCAPE);
  });

  test('a change of stage is told at once', () => {
    const { view, text } = viewOn({});
    view.progress(progress);
    view.progress({ ...progress, phase: 'settle' });
    expect(text()).toContain('settling');
  });

  test('on a terminal the block is redrawn in place and cut to the width', () => {
    const { view, text } = viewOn({ isTTY: true, columns: 20 });
    view.progress(progress);
    const lines = text().trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => Array.from(line).length))).toBeLessThan(20);
    view.progress(progress);
    expect(text()).toContain(`${ESCAPE}[${lines.length}F${ESCAPE}[0J`);
  });

  test('a warning stands above the block and stays', () => {
    const { view, text } = viewOn({ isTTY: true, columns: 80 });
    view.progress(progress);
    view.warn('agent-2 was lost');
    expect(text()).toMatch(/warning {2}agent-2 was lost\nstage/);
  });

  test('quiet shows warnings and nothing else', () => {
    const { view, text } = viewOn({}, true);
    view.progress(progress);
    view.say('hello');
    view.warn('agent-2 was lost');
    expect(text()).toMatch(/^\S+ {2}warning {2}agent-2 was lost\n$/);
  });
});

describe('tables', () => {
  test('columns line up whatever the colours', () => {
    const red = styleFor({ isTTY: true }, {}).red;
    expect(
      textTable(
        [
          [red('a'), '1'],
          ['bbb', '22'],
        ],
        { alignRight: true },
      ),
    ).toEqual([`${ESCAPE}[31ma${ESCAPE}[39m     1`, 'bbb  22']);
  });
});

function viewOn(screen: { isTTY?: boolean; columns?: number }, quiet = false) {
  let text = '';
  let now = Date.UTC(2026, 10, 30, 17, 30, 55);
  const view = new LiveView({
    screen: { ...screen, write: (part) => (text += part) },
    style: plain,
    quiet,
    now: () => now,
  });
  return {
    view,
    text: () => text,
    later: (ms: number) => {
      now += ms;
    },
  };
}

describe('the ledger in the summary', () => {
  const row = {
    from: 'devices',
    to: 'readers',
    qos: 1,
    expected: 4_000,
    received: 4_000,
    lost: 0,
    duplicated: 0,
    reordered: 0,
    corrupted: 0,
    unexpected: 0,
    foreign: 0,
    unresolved: 0,
    unverifiable: 0,
    state: 'pass',
  };

  test('failed rows come first, and only columns that say something', () => {
    const text = summaryOf([
      row,
      { ...row, to: 'others', received: 3_998, lost: 2, reordered: 7, state: 'fail' },
    ]);
    const lines = text.split('\n').filter((line) => /deliveries|→/.test(line));
    expect(lines).toEqual([
      'deliveries         QoS  expected  received  lost  reordered',
      'devices → others     1     4,000     3,998     2          7  fail',
      'devices → readers    1     4,000     4,000     0          0  pass',
    ]);
  });

  test('is left out where nothing was verified, and cut where it is long', () => {
    expect(summaryOf([])).not.toContain('deliveries');
    const text = summaryOf(Array.from({ length: 15 }, (_, k) => ({ ...row, to: `readers-${k}` })));
    expect(text).toContain('… and 3 more in the report');
  });
});

function summaryOf(ledger: readonly object[]): string {
  const report: object = {
    run: { name: 'a-plan', scale: 1, scaled: [] },
    verdict: 'pass',
    exitCode: 0,
    reasons: [],
    notes: [],
    validity: { state: 'valid', findings: [] },
    thresholds: [],
    balance: [],
    probes: {},
    ledger,
    groups: {},
    failures: [],
    stages: [],
    agents: [],
  };
  return reportSummary(report as Report, plain);
}
