import { describe, expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';

/** A storm, a takeover, churn, giving up a subscription, and requests; each in a stage of its own. */
function told(threshold: string): string[] {
  const target = 'broker';
  const read = readPlan(
    JSON.stringify({
      squall: 1,
      name: 'shapes',
      targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'] } },
      groups: {
        devices: { target, clients: 10, subscribe: { topic: 'down' } },
        visitors: { target, clients: 10 },
        answerers: { target, clients: 2, respond: { topic: 'ask', to: 'answer' } },
        app: {
          target,
          clients: 2,
          publish: {
            topic: 'ask',
            payload: '40B',
            every: '1s',
            request: { responseTopic: 'answer' },
          },
        },
      },
      stages: [
        { name: 'subscribe', run: { devices: 'subscribe', answerers: 'respond' } },
        { name: 'storm', run: { devices: { disconnect: { reconnect: '5/s' } } } },
        { name: 'take', run: { devices: 'takeover' } },
        { name: 'churn', run: { visitors: { churn: { rate: '5/s', stay: '1s' } } }, for: '5s' },
        { name: 'leave', run: { devices: 'unsubscribe' } },
        { name: 'ask', run: { app: 'publish' }, for: '5s' },
      ],
      thresholds: [threshold],
    }),
  );
  if (!read.ok) return read.errors.map(({ message }) => message);
  return read.warnings.map(({ message }) => message);
}

describe('thresholds on what stages do to connections, and on requests', () => {
  test.each([
    'recovery_time: max < 10s in storm',
    'recovery_time{group=devices}: p(99) < 5s',
    'session_present: count == 0 in storm',
    'taken_over: count == 10 in take',
    'takeover_failed: share < 1% in take',
    'connect_missed: count == 0 in churn',
    'connected: count == 25 in churn',
    'disconnects: count >= 10 in storm',
    'unsubscribed: count == 10 in leave',
    'unsubscribe_time: p(99) < 1s in leave',
    'response_time: p(99) < 1s over 1s in ask',
    'request_failed: share < 1% in ask',
    'request_failed: count == 0',
    'responses: rate > 1/s in ask',
    'late_responses: count == 0 in ask',
  ])('%s', (threshold) => {
    expect(told(threshold)).toEqual([]);
  });

  test.each([
    ['response_time: p(99) < 1s in storm', 'nobody that it speaks of sends requests in storm'],
    ['taken_over: count == 10 in storm', 'is taken over in storm'],
    ['connect_missed: count > 0 in take', 'churns in take'],
    ['unsubscribed: count == 10 in ask', 'unsubscribes in ask'],
  ])('%s can never hold', (threshold, why) => {
    expect(told(threshold)).toEqual([expect.stringContaining(why)]);
  });
});
