import { expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';
import { complaints, planOf } from './plan-fixture.ts';

const PLAN = planOf({
  groups: {
    devices: {
      target: 'broker',
      clients: '100k',
      connect: { rate: '2000/s', timeout: '7s' },
      publish: [
        { name: 'paced', topic: 'a', payload: '200B', every: '2s', count: '1M' },
        { name: 'fast', topic: 'b', payload: '200B', rate: '50k/s' },
      ],
    },
    fixed: { target: 'broker', clients: { count: 3, scale: false }, connect: { over: '10s' } },
    few: { target: 'broker', clients: 5, subscribe: { topic: '#' } },
  },
  stages: [
    { name: 'up', run: { devices: 'connect', fixed: 'connect', few: 'subscribe' } },
    { name: 'bytes', run: { devices: 'publish' }, until: 'devices.bytes_sent >= 100GB' },
    { name: 'count', run: { devices: 'publish' }, until: 'devices.sent >= 30' },
    { name: 'load', run: { devices: { 'publish.fast': { rate: '10/s' } } }, for: '1m' },
  ],
  thresholds: [
    'published: rate > 28k/s in load',
    'published: count > 1M',
    'publish_failed: count == 0',
    'publish_failed: share < 1%',
    { metric: 'received', expect: 'rate > 5/s', no_data: 'pass' },
  ],
});

test('--scale changes what is a load, and tells each change', () => {
  const read = readPlan(JSON.stringify(PLAN), { scale: 0.01 });
  expect(read.ok ? read.scaled : read.errors).toEqual([
    { path: 'groups.devices.clients', from: '100000', to: '1000' },
    { path: 'groups.devices.connect.rate', from: '2000/s', to: '20/s' },
    { path: 'groups.devices.publish[0].count', from: '1000000', to: '10000' },
    { path: 'groups.devices.publish[1].rate', from: '50000/s', to: '500/s' },
    { path: 'groups.few.clients', from: '5', to: '1' },
    { path: 'groups.few.connect.rate', from: '1000/s', to: '10/s' },
    { path: 'stages[1].until', from: '100000000000B', to: '1000000000B' },
    { path: 'stages[2].until', from: '30', to: '1' },
    { path: 'stages[3].run.devices.publish.fast.rate', from: '10/s', to: '0.1/s' },
    {
      path: 'thresholds[0]',
      from: 'published: rate > 28k/s in load',
      to: 'published: rate > 0.28k/s in load',
    },
    { path: 'thresholds[1]', from: 'published: count > 1M', to: 'published: count > 10000' },
    { path: 'thresholds[4]', from: 'received: rate > 5/s', to: 'received: rate > 0.05/s' },
  ]);
});

test('the scaled plan is the one that runs; times, sizes and every stay', () => {
  const read = readPlan(JSON.stringify(PLAN), { scale: 0.01 });
  expect(read).toMatchObject({
    ok: true,
    plan: {
      groups: [
        {
          clients: 1_000,
          connect: { ratePerS: 20, timeoutUs: 7e6 },
          publish: [
            { count: 10_000, pace: { everyUs: 2e6 }, payload: { bytes: 200 } },
            { pace: { perS: 500 } },
          ],
        },
        { clients: 3, connect: { ratePerS: 0.3 } },
        { clients: 1 },
      ],
      stages: [
        { deadlineUs: 110e6 },
        { until: { value: 1e9, text: 'devices.bytes_sent >= 1000000000B' } },
        { until: { value: 1, text: 'devices.sent >= 1' } },
        { forUs: 60e6 },
      ],
      thresholds: [
        { text: 'published: rate > 0.28k/s in load' },
        { text: 'published: count > 10000' },
        { text: 'publish_failed: count == 0' },
        { text: 'publish_failed: share < 1%' },
        { text: 'received: rate > 0.05/s', noData: 'pass' },
      ],
    },
  });
});

test('a scale of 1 changes nothing', () => {
  expect(readPlan(JSON.stringify(PLAN), { scale: 1 })).toMatchObject({ ok: true, scaled: [] });
});

test('counts are exact, whatever binary fractions do', () => {
  const read = readPlan(JSON.stringify(planOf({}, { clients: '100k' })), { scale: 0.07 });
  expect(read).toMatchObject({ ok: true, plan: { groups: [{ clients: 7_000 }] } });
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e9])(
  'a scale of %d is refused',
  (scale) => {
    expect(complaints(planOf(), { scale })).toEqual([`: ${scale} is not a scale`]);
  },
);
