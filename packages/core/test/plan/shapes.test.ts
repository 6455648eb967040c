import { describe, expect, test } from 'vitest';
import { accepted, complaints, planOf, refused, streamOf } from './plan-fixture.ts';

type Part = Readonly<Record<string, unknown>>;
const staged = (run: unknown, stage: Part = {}, group: Part = {}) =>
  planOf({ stages: [{ name: 'load', run: { devices: run }, for: '10s', ...stage }] }, group);
const activities = (run: unknown, stage: Part = {}, group: Part = {}) =>
  accepted(staged(run, stage, group)).stages[0]?.run[0]?.activities;
const faults = (run: unknown, stage: Part = {}, group: Part = {}) =>
  complaints(staged(run, stage, group));

const V5 = { protocol: 'mqtt', version: '5', urls: ['mqtt://127.0.0.1:1883'] };
const KEPT = { clientId: 'd-{{n}}', connect: { cleanStart: false } };

describe('rates that change', () => {
  test('stand in a stage, for a stream or for the one stream of the group', () => {
    const ramp = { from: '1k/s', to: '50k/s' };
    const pace = { kind: 'ramp', fromPerS: 1_000, toPerS: 50_000, overUs: 10e6 };
    expect(activities({ ramp })).toEqual([{ kind: 'publish', stream: 0, pace, inflight: 32 }]);
    expect(activities({ publish: { ramp: { ...ramp, over: '5s' } } })).toMatchObject([
      { pace: { ...pace, overUs: 5e6 } },
    ]);
    expect(activities(['connect', { steps: [{ rate: '5/s', for: '2s' }] }])).toMatchObject([
      { kind: 'connect' },
      { pace: { kind: 'steps', steps: [{ perS: 5, forUs: 2e6 }] } },
    ]);
    const spike = { base: '10/s', peak: '1k/s', at: '3s', for: '1s' };
    expect(activities({ publish: { spike, inflight: 2 } })).toMatchObject([
      {
        pace: { kind: 'spike', basePerS: 10, peakPerS: 1_000, atUs: 3e6, forUs: 1e6 },
        inflight: 2,
      },
    ]);
  });

  test('stand in a stream, where a stage may still change them', () => {
    const stream = { topic: 't', payload: '40B', steps: [{ rate: '2/s', for: '1s' }] };
    const group = { publish: stream };
    expect(activities('publish', {}, group)).toMatchObject([{ pace: { kind: 'steps' } }]);
    expect(activities({ publish: { every: '1s' } }, {}, group)).toMatchObject([
      { pace: { kind: 'every' } },
    ]);
  });

  test('are scaled with the plan', () => {
    const { stages } = accepted(staged({ ramp: { from: '0/s', to: '50k/s' } }), { scale: 0.01 });
    expect(stages[0]?.run[0]?.activities[0]).toMatchObject({ pace: { fromPerS: 0, toPerS: 500 } });
  });

  test.each([
    [{ ramp: { from: '0/s', to: '0/s' } }, 'this ramp has no rate above 0'],
    [
      { ramp: { from: '1/s', to: '2/s', over: '20s' } },
      'load is shorter than its ramp: 10s against 20s',
    ],
    [
      {
        steps: [
          { rate: '1/s', for: '8s' },
          { rate: '2/s', for: '3s' },
        ],
      },
      'shorter than its steps',
    ],
    [{ spike: { base: '1/s', peak: '2/s', at: '9s', for: '2s' } }, 'shorter than its spike'],
    [
      { publish: { ramp: { from: '1/s', to: '2/s' }, rate: '5/s' } },
      'rate and ramp cannot both be given',
    ],
    [{ steps: [] }, 'at least one entry'],
    [{ spike: { base: '1/s' } }, '"peak" is missing'],
    [{ ramp: { from: '1/s', to: '2' } }, '2 has no unit'],
  ])('%j is refused', (run, message) => {
    expect(faults(run)).toContainEqual(expect.stringContaining(message));
  });

  test('a ramp without a length needs a stage with one', () => {
    const open = { for: undefined, until: 'devices.sent >= 10' };
    expect(faults({ ramp: { from: '1/s', to: '2/s' } }, open)).toEqual([
      'stages[0].run.devices.ramp: how long the ramp takes is missing',
    ]);
  });

  test('a count that a falling rate never comes to is refused', () => {
    const publish = { topic: 't', payload: '40B', every: '1s', count: 100 };
    const run = { ramp: { from: '10/s', to: '0/s', over: '4s' } };
    expect(faults(run, { for: undefined }, { publish })[0]).toContain(
      'count of 100 is never reached',
    );
    expect(
      activities(run, { for: undefined }, { publish: { ...publish, count: 20 } }),
    ).toHaveLength(1);
  });
});

test('arrivals and phases are the stream’s', () => {
  const [group] = accepted(streamOf({ arrivals: 'poisson' })).groups;
  expect(group?.publish[0]).toMatchObject({ arrivals: 'poisson', phase: 'even' });
  expect(accepted(streamOf({ phase: 'random' })).groups[0]?.publish[0]?.phase).toBe('random');
  expect(complaints(streamOf({ arrivals: 'poisson', phase: 'random' }))[0]).toContain(
    'poisson arrivals have no phase',
  );
  expect(complaints(streamOf({ arrivals: 'poisson', every: undefined, rate: 'max' }))[0]).toContain(
    'has no arrivals to spread',
  );
});

describe('connections in a stage', () => {
  test('connect at a rate of the stage', () => {
    expect(activities({ connect: { rate: '20/s' } })).toEqual([{ kind: 'connect', ratePerS: 20 }]);
    expect(activities({ connect: { over: '10s' } })).toEqual([{ kind: 'connect', ratePerS: 10 }]);
    const slow = accepted(staged({ connect: { rate: '1/s' } }, { for: undefined }));
    // 100 clients at one a second, and a minute.
    expect(slow.stages[0]?.deadlineUs).toBe(160e6);
    expect(faults({ connect: { rate: '1/s', over: '1s' } })[0]).toContain('cannot both be given');
  });

  test('go, a share of them, and come back', () => {
    const drop = { share: 0.5, ratePerS: null, abrupt: true, keep: false };
    expect(activities({ disconnect: { share: '50%', by: 'reset', reconnect: '200/s' } })).toEqual([
      { kind: 'disconnect', drop: { ...drop, back: { ratePerS: 200, afterUs: 0 } } },
    ]);
    const reconnect = { rate: '10/s', after: '2s' };
    expect(activities(['publish', { disconnect: { reconnect } }], {}, KEPT)).toMatchObject([
      { kind: 'publish' },
      { drop: { share: 1, keep: true, abrupt: false, back: { ratePerS: 10, afterUs: 2e6 } } },
    ]);
    expect(activities({ disconnect: { rate: 'max' } })).toMatchObject([
      { drop: { ratePerS: null, back: null } },
    ]);
    expect(activities({ disconnect: { share: '10%' } })).toMatchObject([
      { drop: { share: 0.1, ratePerS: 1_000 } },
    ]);
    expect(activities({ disconnect: {} })).toEqual([{ kind: 'disconnect' }]);
    expect(faults({ disconnect: { share: '0%' } })[0]).toContain('a share of 0% is nobody');
    const storm = { disconnect: { reconnect: { rate: '10/s', after: '5s' } } };
    expect(accepted(staged(storm, { for: undefined })).stages[0]?.deadlineUs).toBe(75.1e6);
  });

  test('sleep and wake need sessions that are kept', () => {
    expect(activities('sleep', {}, KEPT)).toEqual([
      {
        kind: 'disconnect',
        drop: { share: 1, ratePerS: 1_000, abrupt: false, keep: true, back: null },
      },
    ]);
    expect(activities({ wake: { rate: '5/s' } }, {}, KEPT)).toEqual([
      { kind: 'connect', ratePerS: 5 },
    ]);
    expect(faults('sleep')).toEqual([
      'stages[0].run.devices: sleep needs sessions that are kept, and devices has cleanStart: true',
    ]);
    expect(faults('wake')[0]).toContain('wake needs sessions that are kept');
    const forgotten = { clientId: 'd-{{n}}', connect: { cleanStart: false, sessionExpiry: '0s' } };
    const plan = staged('sleep', {}, forgotten);
    const [fault] = refused({ ...plan, targets: { broker: V5 } });
    expect(fault?.message).toContain('devices has sessionExpiry: 0s');
    expect(fault?.hint).toContain('write connect: { sessionExpiry: 1h }');
  });

  test('are taken over by their own client id', () => {
    expect(activities('takeover')).toEqual([{ kind: 'takeover', share: 1, ratePerS: 1_000 }]);
    expect(activities({ takeover: { share: '20%', rate: '5/s' } })).toEqual([
      { kind: 'takeover', share: 0.2, ratePerS: 5 },
    ]);
    expect(faults('takeover', {}, { clientId: '' })[0]).toContain(
      'no client ids that stay the same',
    );
    expect(faults('takeover', {}, { clientId: '{{uuid}}' })[0]).toContain('stay the same');
  });

  test('churn: as many clients as are there at a time', () => {
    expect(activities({ churn: { rate: '20/s', stay: '5s' } })).toEqual([
      { kind: 'churn', ratePerS: 20, stayUs: 5e6 },
    ]);
    expect(faults({ churn: { rate: '21/s', stay: '5s' } })[0]).toContain(
      'has 100 clients, and this churn keeps 105 connected at a time',
    );
    expect(faults({ churn: { rate: '2/s', stay: '5s' } }, { for: undefined })[0]).toContain(
      'devices would churn for ever',
    );
    expect(
      faults({ churn: { rate: '2/s', stay: '5s' } }, {}, { ...KEPT, clientId: 'x{{uuid}}' })[0],
    ).toContain('client ids that stay the same');
    const after = planOf({
      stages: [
        { name: 'all', run: { devices: 'connect' } },
        { name: 'churn', run: { devices: { churn: { rate: '2/s', stay: '5s' } } }, for: '5s' },
      ],
    });
    expect(complaints(after)[0]).toContain('devices is connected already');
  });

  test('unsubscribe what was subscribed before', () => {
    const subscribe = { topic: 'down' };
    const two = (first: string) =>
      planOf(
        {
          stages: [
            { name: 'one', run: { devices: first } },
            { name: 'two', run: { devices: 'unsubscribe' } },
          ],
        },
        { subscribe },
      );
    expect(accepted(two('subscribe')).stages[1]?.run[0]?.activities).toEqual([
      { kind: 'unsubscribe', entry: 0 },
    ]);
    expect(complaints(two('connect'))[0]).toContain('is not subscribed to anything');
  });
});
