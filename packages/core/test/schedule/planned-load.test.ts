import { describe, expect, test } from 'vitest';
import {
  churnTurns,
  connectRampUs,
  stageNeeds,
  streamLoad,
  targetPerS,
} from '@squall/core/schedule';
import { readPlan } from '../../src/plan/index.ts';

function planOf(stages: readonly object[], stream: object = {}) {
  const read = readPlan(
    JSON.stringify({
      squall: 1,
      name: 'load',
      targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'] } },
      groups: {
        devices: {
          target: 'broker',
          clients: 100,
          clientId: 'd-{{n}}',
          connect: { rate: '50/s', cleanStart: false },
          subscribe: { topic: 'down' },
          publish: { topic: 'up', payload: '40B', every: '2s', ...stream },
        },
      },
      stages,
    }),
  );
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return read.plan;
}

/** Load of the one stream in the one stage. */
function loadOf(stage: object, stream: object = {}) {
  const { stages, groups } = planOf(
    [{ name: 'load', run: { devices: 'publish' }, ...stage }],
    stream,
  );
  const [first] = stages;
  const [group] = groups;
  const activity = first?.run[0]?.activities[0];
  if (first === undefined || group === undefined || activity?.kind !== 'publish')
    throw new Error('none');
  return streamLoad(first, group, activity);
}

describe('what a stage comes to', () => {
  test.each([
    ['an even pace', { for: '10s' }, {}, { messages: 500, peakPerS: 50 }],
    ['a count', { for: '10s' }, { count: 20 }, { messages: 20, peakPerS: 50 }],
    ['a count without a length', {}, { count: 20 }, { messages: 20, peakPerS: 50 }],
    [
      'a closed loop',
      { for: '10s' },
      { every: undefined, rate: 'max' },
      { messages: null, peakPerS: null },
    ],
    ['a condition', { until: 'devices.sent > 5' }, {}, { messages: null, peakPerS: 50 }],
    [
      'a ramp',
      { run: { devices: { ramp: { from: '0/s', to: '300/s' } } }, for: '10s' },
      {},
      { messages: 1_500, peakPerS: 300 },
    ],
  ])('by %s', (_what, stage, stream, load) => {
    expect(loadOf(stage, stream)).toEqual(load);
  });

  test('at a moment: the rates of all its streams', () => {
    const plan = planOf([
      { name: 'rise', run: { devices: { ramp: { from: '0/s', to: '100/s' } } }, for: '10s' },
      { name: 'rest', for: '1s' },
    ]);
    const [rise, rest] = plan.stages;
    if (rise === undefined || rest === undefined) throw new Error('no stages');
    expect(targetPerS(plan, rise, 2.5e6)).toBeCloseTo(25, 9);
    expect(targetPerS(plan, rest, 0)).toBeNull();
  });

  test('in connects of a churn', () => {
    const churn = { churn: { rate: '7/s', stay: '1s' } };
    const plan = planOf([{ name: 'churn', run: { devices: churn }, for: '12s' }]);
    const [stage] = plan.stages;
    const [group] = plan.groups;
    if (stage === undefined || group === undefined) throw new Error('no stage');
    expect(churnTurns(stage, group, 7)).toBe(84);
    expect(churnTurns({ ...stage, forUs: null }, group, 7)).toBeNull();
  });
});

const run = (activity: unknown, more: object = {}) => ({
  name: 's',
  run: { devices: activity },
  ...more,
});
const needsOf = (...stages: object[]) => {
  const plan = planOf(stages.map((stage, k) => ({ ...stage, name: `s${k}` })));
  return { plan, needs: stageNeeds(plan) };
};

describe('what a stage needs', () => {
  test('a storm has its clients there first, and has them after', () => {
    const storm = { disconnect: { share: '10%', reconnect: '5/s' } };
    const { plan, needs } = needsOf(run(storm), run('publish', { for: '1s' }));
    expect(needs[0]).toMatchObject({ prologue: true });
    expect([...(needs[0]?.connects ?? [])]).toEqual([0]);
    expect([...(needs[0]?.reconnects ?? [])]).toEqual([0]);
    expect(needs[1]).toMatchObject({ prologue: false });
    const [stage] = plan.stages;
    const [own] = needs;
    if (stage === undefined || own === undefined) throw new Error('no stage');
    expect(connectRampUs(plan, stage, own)).toBe(2e6);
  });

  test('who sleeps keeps its subscriptions, who goes for good does not', () => {
    const again = run(['connect', 'subscribe']);
    const slept = needsOf(run('subscribe'), run('sleep'), again).needs;
    expect([...(slept[2]?.connects ?? [])]).toEqual([0]);
    expect(slept[2]?.subscribes.size).toBe(0);
    const left = needsOf(run('subscribe'), run('disconnect'), again).needs;
    expect(left[2]?.subscribes.get(0)).toEqual(new Set([0]));
    const part = needsOf(run('subscribe'), run({ disconnect: { share: '50%' } }), again).needs;
    expect([...(part[2]?.connects ?? [])]).toEqual([0]);
    expect(part[2]?.subscribes.size).toBe(0);
  });

  test('churn connects by itself, and nobody waits for it', () => {
    const churn = { churn: { rate: '5/s', stay: '1s' } };
    const { needs } = needsOf(run(['publish', 'subscribe', churn], { for: '5s' }), run('connect'));
    expect(needs[0]).toMatchObject({ prologue: false });
    expect(needs[0]?.connects.size).toBe(0);
    expect([...(needs[0]?.churns ?? [])]).toEqual([0]);
    expect([...(needs[1]?.connects ?? [])]).toEqual([0]);
  });
});
