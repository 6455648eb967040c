import { buildReport, checkReport, type Report } from '@squall/core/report';
import { describe, expect, it } from 'vitest';
import { planOf } from '../thresholds/scene.ts';
import { healthySlices, inputOf } from './scene.ts';

const texts = ['publish_time: p(99) < 500ms over 1s', 'publish_failed: count == 0'];
const whole = buildReport(inputOf({ plan: planOf(texts), slices: healthySlices() }));

/** A deep copy without `readonly`, to be spoiled. */
function spoil(change: (report: Report) => void): string[] {
  const copy = structuredClone(whole);
  change(copy);
  return checkReport(copy);
}

function first<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error('the list is empty');
  return item;
}

function devices(report: Report) {
  const group = report.groups['devices'];
  if (group === undefined) throw new Error('there is no group');
  return group;
}

function publishTime(report: Report) {
  const times = devices(report).times['publish_time'];
  if (times === undefined) throw new Error('there are no times');
  return times;
}

describe('the laws of a report', () => {
  it('are kept by a whole one', () => {
    expect(checkReport(whole)).toEqual([]);
  });

  const spoilt: readonly (readonly [string, (report: Report) => void, RegExp])[] = [
    ['an exit code of its own', (r) => (r.exitCode = 99), /exit code 99/],
    ['a failing run that exits with 0', (r) => (r.verdict = 'fail'), /exit code 0/],
    ['no reason', (r) => (r.reasons = []), /no reason/],
    [
      'a validity that its findings do not give',
      (r) => (r.validity.state = 'degraded'),
      /validity/,
    ],
    [
      'a pass under an invalid generator',
      (r) => {
        const finding = {
          check: 'dropped' as const,
          state: 'invalid' as const,
          observed: 1,
          limit: 0,
          hint: '',
        };
        r.validity = { state: 'invalid', findings: [finding] };
        r.exitCode = 111;
      },
      /nothing passes|does not follow/,
    ],
    ['stages that do not add up', (r) => (devices(r).counters['sent'] = 41), /stages have 40 sent/],
    [
      'agents that do not add up',
      (r) => (first(r.agents).counters['devices'] = { sent: 1 }),
      /agents have/,
    ],
    [
      'more sent than scheduled',
      (r) => (devices(r).counters['scheduled'] = 1),
      /sent 40 is more than/,
    ],
    ['percentiles that fall', (r) => (publishTime(r).p90Us = 1), /p50Us is above p90Us/],
    ['a percentile above the maximum', (r) => (publishTime(r).p9999Us = 9e9), /above maxUs/],
    ['a mean outside', (r) => (publishTime(r).meanUs = 1), /the mean/],
    [
      'missing frames that nobody tells',
      (r) => (first(r.agents).framesReceived = 1),
      /frames of a/,
    ],
    ['a book that says it holds', (r) => (first(r.books).left = 7), /holds is not what it says/],
    ['a pass without data', (r) => (first(r.thresholds).windows = 0), /passes without data/],
    [
      'a failure without a failed window',
      (r) => (first(r.thresholds).state = 'fail'),
      /without a window/,
    ],
    [
      'a threshold that fails in a run that passes',
      (r) => (first(r.thresholds).leadsTo = 'fail'),
      /the run passes, but/,
    ],
    [
      'a split with a gap',
      (r) => {
        const range = first(first(r.split).workers).groups['devices'];
        if (range !== undefined) range.first = 1;
      },
      /gap or an overlap/,
    ],
    [
      'a curve of another length',
      (r) => first(r.timeline.series).values.push(1),
      /different lengths/,
    ],
    ['a time with a fraction', (r) => (r.run.durationUs = 0.5), /durationUs/],
    [
      'a moment without milliseconds',
      (r) => (r.run.startedAt = '2026-11-30T12:00:00Z'),
      /startedAt/,
    ],
    ['a name that is not in the model', (r) => Object.assign(r, { extra: 1 }), /extra/],
  ];

  it.each(spoilt)('are broken by %s', (_, change, law) => {
    expect(spoil(change).join('\n')).toMatch(law);
  });
});
