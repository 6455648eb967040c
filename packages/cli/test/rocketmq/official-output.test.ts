import { RunAggregate } from '@squall/core/metrics';
import { describe, expect, it } from 'vitest';
import { differences } from '../../src/rocketmq/differences.ts';
import { TOOL_KINDS, type ToolKind } from '../../src/rocketmq/flags.ts';
import {
  completeLine,
  type LineFigures,
  officialLine,
  OUTPUT_STYLES,
} from '../../src/rocketmq/official-lines.ts';
import { totalsOf, type ToolTotals } from '../../src/rocketmq/tool-totals.ts';

const none: ToolTotals = {
  atUs: 1_000_000,
  done: 0,
  sendFailed: 0,
  responseFailed: 0,
  unconfirmed: 0,
  checks: 0,
  consumeFailed: 0,
  roundTrip: { count: 0, sumUs: 0 },
  bornToReceived: { count: 0, sumUs: 0 },
  storedToReceived: { count: 0, sumUs: 0 },
};
const figures: LineFigures = {
  first: none,
  last: {
    ...none,
    atUs: 10_000_000,
    done: 144_000,
    sendFailed: 9,
    responseFailed: 18,
    checks: 4,
    consumeFailed: 2,
    roundTrip: { count: 144_000, sumUs: 144_000 * 3_839 },
    bornToReceived: { count: 100, sumUs: 100 * 7_978 },
    storedToReceived: { count: 100, sumUs: 100 * 5_666 },
  },
  now: new Date(2026, 10, 30, 14, 21, 35, 690),
  maxUs: { roundTrip: 661_400, bornToReceived: 147_000, storedToReceived: 146_000 },
};
const ms = figures.now.getTime();

/** The shapes of their lines, number for number. */
const LINES: readonly [kind: ToolKind, style: (typeof OUTPUT_STYLES)[number], line: string][] = [
  [
    'producer',
    '4.8',
    `Current Time: ${ms} Send TPS: 16000 Max RT(ms): 661 Average RT(ms):   3.839 Send Failed: 9 Response Failed: 18`,
  ],
  [
    'producer',
    '4.9',
    'Current Time: 2026-11-30 14:21:35,690 Send TPS: 16000 Max RT(ms): 661 Average RT(ms):   3.839 Send Failed: 9 Response Failed: 18',
  ],
  [
    'producer',
    '5.x',
    'Current Time: 2026-11-30 14:21:35,690 | Send TPS: 16000 | Max RT(ms): 661 | Average RT(ms):   3.839 | Send Failed: 9 | Response Failed: 18',
  ],
  [
    'batchproducer',
    '4.9',
    `Current Time: ${ms} Send TPS: 1000 Send MPS: 16000 Max RT(ms): 661 Average RT(ms):   3.839 Average Message RT(ms):   0.240 Send Failed: 2 Send Message Failed: 27`,
  ],
  [
    'consumer',
    '4.8',
    `Current Time: ${ms} TPS: 16000 FAIL: 2 AVG(B2C) RT(ms):   7.978 AVG(S2C) RT(ms):   5.666 MAX(B2C) RT(ms): 147 MAX(S2C) RT(ms): 146`,
  ],
  [
    'consumer',
    '5.x',
    'Current Time: 2026-11-30 14:21:35,690 | Consume TPS: 16000 | AVG(B2C) RT(ms):   7.978 | AVG(S2C) RT(ms):   5.666 | MAX(B2C) RT(ms): 147 | MAX(S2C) RT(ms): 146 | Consume Fail: 2',
  ],
  [
    'tproducer',
    '4.9',
    `Current Time: ${ms} Send TPS:16003 Max RT(ms):  661 AVG RT(ms):3.8 Send Failed: 27 check: 4 unexpectedCheck: - duplicatedCheck: -`,
  ],
];

describe('--official-output', () => {
  it.each(LINES)('a line of %s %s', (kind, style, line) => {
    expect(officialLine({ kind, style, batch: 16 }, figures)).toBe(line);
  });

  it('the last line of a quantity', () => {
    const line = completeLine({ kind: 'producer', style: '4.9', batch: 1 }, figures);
    expect(line).toBe(
      '[Complete] Send Total: 144009 Send TPS: 16000 Max RT(ms): 661 Average RT(ms):   3.839 Send Failed: 9 Response Failed: 18',
    );
  });

  it.each(TOOL_KINDS)(
    '%s of a run in which nothing happened has no numbers that are none',
    (kind) => {
      for (const style of OUTPUT_STYLES) {
        const line = officialLine(
          { kind, style, batch: 16 },
          { ...figures, first: none, last: none },
        );
        expect(line).not.toMatch(/NaN|Infinity|undefined/);
      }
    },
  );
});

describe('what theirs counts otherwise', () => {
  it('failures by whether it would have tried again', () => {
    const aggregate = new RunAggregate('r');
    const series = (
      [
        'SYSTEM_BUSY (2) [OVERLOAD]',
        'NO_PERMISSION (16)',
        'timed out',
        'response code 4711',
      ] as const
    ).map(
      (reason, k) =>
        ({ metric: 'publish_failed', subject: 'p', stage: 0, reason, value: 10 ** k }) as const,
    );
    aggregate.fold({
      run: 'r',
      agent: 'a',
      epoch: 1,
      seq: 1,
      slices: [
        { stage: 0, phase: 'main', n: 0, span: 1, fromUs: 0, toUs: 1e6, series, examples: [] },
      ],
    } as unknown as Parameters<RunAggregate['fold']>[0]);
    const totals = totalsOf({ aggregate, closedUs: () => 1e6 } as never, 'producer');
    expect(totals).toMatchObject({ sendFailed: 110, responseFailed: 1001 });
  });

  it('is told with its figures, and only where there are any', () => {
    expect(differences('producer', none)).toHaveLength(1);
    const notes = differences('producer', {
      ...none,
      unconfirmed: 7,
      sendFailed: 5,
      responseFailed: 3,
    });
    expect(notes.join('\n')).toMatch(
      /count 7 messages as sent.*\n.*5 failed messages up to two times more.*\n.*each of 3 refusals/,
    );
    expect(differences('batchproducer', { ...none, unconfirmed: 7 })[1]).toContain('as failed');
    expect(differences('tproducer', { ...none, sendFailed: 1 }).at(-1)).toContain(
      'of 4.x counts failures into Send TPS',
    );
    expect(differences('consumer', none)[0]).toContain('B2C mixes the clocks');
  });
});
