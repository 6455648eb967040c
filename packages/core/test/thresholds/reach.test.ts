import { describe, expect, test } from 'vitest';
import { type PlanProblem, readPlan } from '../../src/plan/index.ts';

type Threshold = string | Readonly<Record<string, unknown>>;

/** 6 s of load, before it 2 s of warm-up and a stage that subscribes; idlers do nothing. */
function plan(thresholds: readonly Threshold[]): string {
  const target = 'broker';
  const stream = { topic: 'up', qos: 1, payload: '40B', every: '1s' };
  return JSON.stringify({
    squall: 1,
    name: 'reach',
    targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'] } },
    groups: {
      pubs: { target, clients: 2, publish: stream },
      quiet: { target, clients: 2, publish: { ...stream, topic: 'quiet', qos: 0 } },
      full: { target, clients: 2, publish: { ...stream, every: undefined, rate: 'max' } },
      subs: { target, clients: 2, subscribe: { topic: 'up' } },
      others: { target, clients: 2, subscribe: { topic: 'elsewhere' } },
    },
    stages: [
      { name: 'connect', run: { pubs: 'connect' } },
      { name: 'warm', run: { pubs: 'publish', quiet: 'publish' }, for: '2s', warmup: true },
      { name: 'listen', run: { subs: 'subscribe', others: 'subscribe' } },
      { name: 'load', run: { pubs: 'publish', full: 'publish', quiet: 'publish' }, for: '6s' },
      { name: 'open', run: { pubs: 'publish' }, until: 'pubs.sent >= 100' },
    ],
    thresholds,
  });
}

function texts(list: readonly PlanProblem[]): string[] {
  return list.map(({ message, hint }) => (hint === undefined ? message : `${message} | ${hint}`));
}

function told(threshold: Threshold): { errors: string[]; warnings: string[] } {
  const read = readPlan(plan([threshold]));
  return read.ok
    ? { errors: [], warnings: texts(read.warnings) }
    : { errors: texts(read.errors), warnings: [] };
}

describe('a threshold that can never hold is an error', () => {
  test.each([
    ['sent: count < 0', 'sent can never have count < 0'],
    ['sent: count > 5 and count < 6', 'count > 5 and count < 6'],
    ['sent: count == 5 and count != 5', 'count == 5 and count != 5'],
    ['sent: rate > 5/s and rate < 5/s', 'rate > 5/s and rate < 5/s'],
    [
      'publish_time{group=pubs}: p(99) > 5ms and p(99) < 1ms in open',
      'p(99) > 5ms and p(99) < 1ms',
    ],
    [
      'publish_time{group=pubs}: p(50) > 5ms and p(99) < 1ms in open',
      'p(50) > 5ms and p(99) < 1ms',
    ],
    ['publish_time{group=pubs}: p(99) < 1ms and min > 5ms in open', 'p(99) < 1ms and min > 5ms'],
    ['service_time{group=pubs}: max < 1ms and avg > 1ms', 'max < 1ms and avg > 1ms'],
    ['service_time{group=pubs}: p(99) > 2h', 'p(99) > 2h'],
    ['connections: min < -1', 'min < -1'],
    ['lateness{group=pubs}: p(99) < 1s over 1s in load, after 60s', 'no window begins 1m after'],
    ['lateness{group=pubs}: p(99) < 1s over 2s in load, after 5s', 'no window begins 5s after'],
    [
      'received: rate > 5/s in warm',
      'this can never hold: nobody that it speaks of subscribes in warm',
    ],
    ['received{group=pubs}: rate > 5/s', 'there is no received to judge'],
    ['delivery_time{group=others}: p(99) < 1s', 'publishes with a stamp to what is subscribed'],
    ['delivery_time: p(99) < 1s in listen', 'there is no delivery_time to judge'],
    ['service_time{group=quiet}: p(99) < 1s', 'nobody that it speaks of publishes at QoS 1'],
    ['acked{group=quiet}: count > 0', 'so acked stays 0'],
    ['lateness{group=full}: p(99) < 1s', 'nobody that it speaks of publishes by a pace'],
    ['sent: rate > 5/s in listen', 'so sent stays 0'],
    ['connect_time{group=pubs}: p(99) < 1s over 5s in warm, after 60s', 'no window begins'],
  ])('%s', (line, message) => {
    expect(told(line)).toEqual({ errors: [expect.stringContaining(message)], warnings: [] });
  });
});

describe('a threshold that can never fail is a warning', () => {
  test.each([
    [
      'lateness{group=pubs}: p(50) < 1us over 1s for 7 in load',
      'no stage that it speaks of has more than 6 windows of 1s',
    ],
    ['lateness{group=pubs}: p(50) < 1us over 10s for 3 in load', 'more than one window of 10s'],
    ['lateness{group=pubs}: p(50) < 1us over 4s for 3 in load|warm', 'more than 2 windows of 4s'],
    ['lateness{group=pubs}: p(50) < 1us over 1s for 5 in load, after 2s', 'more than 4 windows'],
    ['sent: count >= 0', 'sent always has count >= 0'],
    ['lateness{group=pubs}: p(99) < 2h', 'lateness always has p(99) < 2h'],
    ['connections: min >= 0', 'connections always has min >= 0'],
    ['received{group=pubs}: count == 0', 'so received stays 0'],
    ['publish_failed: count == 0 in listen', 'so publish_failed stays 0'],
  ])('%s', (line, message) => {
    expect(told(line)).toEqual({ errors: [], warnings: [expect.stringContaining(message)] });
  });
});

test('what is only left out by its own word is a warning', () => {
  const line = { metric: 'lateness', tags: { group: 'full' }, expect: 'p(99) < 1s' };
  expect(told({ ...line, no_data: 'pass' }).warnings).toHaveLength(1);
  expect(told({ ...line, warn: true }).warnings).toHaveLength(1);
  expect(told(line).errors).toHaveLength(1);
});

test.each([
  'lateness{group=pubs}: p(99) < 1s over 1s for 6 in load',
  'lateness{group=pubs}: p(99) < 1s over 1s for 3 in load, after 3s',
  'lateness{group=pubs}: p(99) < 1s over 5s for 100 in open',
  'lateness{group=pubs}: p(99) < 1s over 4s for 2 in load',
  'service_time{group=pubs}: p(50) < 1ms and p(99) < 5ms',
  'service_time{group=pubs}: p(50) > 1ms and p(99) < 5ms',
  'service_time{group=pubs}: avg > 1ms and p(50) < 1us',
  'sent: count >= 5 and count <= 5',
  'sent: count != 0',
  'connections: delta >= 0',
  'connections: delta < 0',
  'connected: count >= 0 and count < 10',
  'connected: count == 0 in load',
  'received: count > 0 in load',
  'received{qos=0}: count == 0 in load',
  'delivery_time{group=subs}: p(99) < 1s in load',
  'connect_failed: share < 1% in load',
  'disconnected: count == 0 in listen',
])('%s may hold and may fail', (line) => {
  expect(told(line)).toEqual({ errors: [], warnings: [] });
});

describe('reasons', () => {
  test.each([
    ['publish_failed{reason=timeout}: count == 0', 'within the time-out'],
    ['publish_failed{reason=conection lost}: count == 0', 'reason="connection lost"'],
    ['publish_failed{reason!=timeout}: count == 0', 'within the time-out'],
    ['connect_failed{reason=refused}: count == 0', 'reason="connection refused"'],
    ['dropped{reason=windows}: count == 0', 'reason="window"'],
    ['dropped{reason=~win}: count == 0', 'reason="window"'],
    ['subscribe_failed{reason=xyzzy}: count == 0', 'the reasons are listed'],
  ])('%s counts nothing, which is a warning', (line, hint) => {
    const { errors, warnings } = told(line);
    expect(errors).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('no known reason of')]);
    expect(warnings[0]).toContain(hint);
  });

  test.each([
    'publish_failed{reason="no acknowledgement within the time-out"}: count == 0',
    'publish_failed{reason=not sent: something that was found}: count == 0',
    'publish_failed{reason=~not sent.*}: count == 0',
    'connect_failed{reason=CONNACK code 0x87}: count == 0',
    'connect_failed{reason=~.*EMFILE.*}: count == 0',
    'dropped{reason=~win.*|generator}: count == 0',
    'dropped{reason=other reasons}: count == 0',
  ])('%s is known', (line) => {
    expect(told(line)).toEqual({ errors: [], warnings: [] });
  });
});

describe('a tag that the plan does not have is told in words', () => {
  test.each([
    ['sent{group=nope}: count > 0', 'no group of the plan is "nope"'],
    ['sent{group=~no.*}: count > 0', 'no group of the plan fits the pattern "no.*"'],
    ['sent{stage=lod}: count > 0', 'no stage of the plan is "lod" | did you mean load?'],
    ['sent{stream=x}: count > 0', 'no stream of the plan is "x"'],
  ])('%s', (line, message) => {
    expect(told(line).errors).toEqual([expect.stringContaining(message)]);
  });
});
