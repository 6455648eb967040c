import { describe, expect, test } from 'vitest';
import { accepted, complaints } from './plan-fixture.ts';

/** `counted` sends 101 messages of 50 B in each stage that runs it, `open` as many as the time allows. */
function plan(until: string, run: unknown = { pubs: 'publish.counted' }) {
  const target = 'broker';
  const stream = { topic: 't', payload: '50B', every: '1s', qos: 1 };
  return {
    squall: 1,
    name: 'until',
    targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'] } },
    groups: {
      pubs: {
        target,
        clients: 2,
        publish: [
          { ...stream, name: 'counted', count: 101 },
          { ...stream, name: 'quiet', count: 10, qos: 0 },
          { ...stream, name: 'open' },
        ],
      },
      subs: { target, clients: 2, subscribe: { topic: 't' } },
    },
    stages: [
      { name: 'first', run: { pubs: 'publish.counted' } },
      { name: 'second', run, until },
      { name: 'third', run: { pubs: 'publish.open', subs: 'subscribe' }, for: '1s' },
    ],
  };
}

describe('an until that can never come true is an error', () => {
  test.each([
    ['pubs.sent >= 1000', 'pubs.sent comes to 101 at most in this stage'],
    ['pubs.sent > 101', 'comes to 101 at most'],
    ['pubs.sent == 102', 'comes to 101 at most'],
    ['pubs.counted.acked >= 102', 'pubs.counted.acked comes to 101 at most'],
    ['pubs.bytes_sent >= 5051B', 'pubs.bytes_sent comes to 5050 at most'],
    ['run.pubs.sent >= 203', 'comes to 202 at most by the end of this stage'],
    ['pubs.open.sent >= 1', 'pubs.open.sent stays 0 in this stage'],
    ['pubs.sent < 0', 'can never come true'],
    ['subs.received >= 1', 'subs.received stays 0 in this stage'],
    ['subs.connected >= 1', 'subs.connected stays 0 in this stage'],
  ])('%s', (until, why) => {
    expect(complaints(plan(until))).toEqual([expect.stringContaining(why)]);
    expect(complaints(plan(until))[0]).toContain('stages[1].until');
  });

  test('at QoS 0 nothing is acknowledged', () => {
    const [complaint] = complaints(plan('pubs.acked >= 1', { pubs: 'publish.quiet' }));
    expect(complaint).toContain('pubs.acked stays 0');
  });

  test('where the text has a number that --scale changed, both are scaled alike', () => {
    expect(accepted(plan('pubs.sent >= 101'), { scale: 0.01 }).stages[1]?.until?.value).toBe(2);
  });
});

test.each([
  ['pubs.sent >= 101', undefined],
  ['pubs.bytes_sent >= 5050B', undefined],
  ['run.pubs.sent >= 202', undefined],
  ['pubs.sent >= 111', { pubs: ['publish.counted', 'publish.quiet'] }],
  ['pubs.sent >= 1M', { pubs: ['publish.counted', 'publish.open'] }],
  ['pubs.connect_attempts >= 1000', undefined],
  ['subs.received >= 1M', { pubs: 'publish.counted', subs: 'subscribe' }],
])('%s may come true', (until, run) => {
  expect(accepted(plan(until, run)).stages[1]?.until).not.toBeNull();
});

test('nothing is said of what a stage reaches while its activities are wrong', () => {
  expect(complaints(plan('pubs.sent >= 1', { pubs: 'publsh' }))).toEqual([
    expect.stringContaining('no activity'),
  ]);
});
