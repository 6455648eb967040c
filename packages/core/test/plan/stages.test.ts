import { describe, expect, test } from 'vitest';
import { accepted, complaints, planOf, streamOf } from './plan-fixture.ts';

const staged = (stage: object, group: object = {}) =>
  planOf({ stages: [{ name: 'load', ...stage }] }, { subscribe: { topic: 'down' }, ...group });
const activities = (run: unknown, group: object = {}) =>
  accepted(staged({ run: { devices: run }, for: '10s' }, group)).stages[0]?.run[0]?.activities;
const runFaults = (run: unknown, group: object = {}) =>
  complaints(staged({ run: { devices: run }, for: '10s' }, group));

const EVERY_SECOND = { kind: 'every', everyUs: 1e6 };

describe('activities', () => {
  test('words, lists and maps', () => {
    expect(activities('connect')).toEqual([{ kind: 'connect' }]);
    expect(activities(['connect', 'subscribe'])).toEqual([
      { kind: 'connect' },
      { kind: 'subscribe', entry: 0 },
    ]);
    expect(activities({ subscribe: null, publish: {} })).toEqual([
      { kind: 'subscribe', entry: 0 },
      { kind: 'publish', stream: 0, pace: EVERY_SECOND, inflight: 32 },
    ]);
    expect(activities(['subscribe', { publish: { every: '2s' } }])).toHaveLength(2);
    expect(activities('disconnect')).toEqual([{ kind: 'disconnect' }]);
    expect(activities('idle')).toEqual([{ kind: 'idle' }]);
  });

  test('overrides of pace and window', () => {
    expect(activities({ publish: { rate: '500/s' } })).toEqual([
      { kind: 'publish', stream: 0, pace: { kind: 'rate', perS: 500 }, inflight: 32 },
    ]);
    expect(activities({ publish: { inflight: 5 } })).toEqual([
      { kind: 'publish', stream: 0, pace: EVERY_SECOND, inflight: 5 },
    ]);
    expect(activities({ publish: { rate: 'max' } })).toMatchObject([{ inflight: 1 }]);
  });

  test('a bare word means all entries, a dotted one the named entry', () => {
    const named = {
      publish: [
        { name: 'a', topic: 'a', payload: '40B', every: '1s' },
        { name: 'b', topic: 'b', payload: '40B', every: '1s' },
      ],
      subscribe: [
        { name: 'x', topic: 'x' },
        { name: 'y', topic: 'y' },
      ],
    };
    expect(activities('publish', named)).toHaveLength(2);
    expect(activities(['publish.b', 'subscribe.y'], named)).toMatchObject([
      { kind: 'publish', stream: 1 },
      { kind: 'subscribe', entry: 1 },
    ]);
    expect(activities({ 'publish.a': { every: '5s' }, 'publish.b': null }, named)).toMatchObject([
      { stream: 0, pace: { everyUs: 5e6 } },
      { stream: 1, pace: EVERY_SECOND },
    ]);
    expect(runFaults({ publish: { every: '5s' } }, named)[0]).toContain('must name one');
    expect(runFaults('publish.c', named)[0]).toContain('no publish entry "c"');
    expect(runFaults(['publish', 'publish.a'], named)[0]).toContain('stands twice');
  });

  test.each([
    ['publsh', 'there is no activity "publsh"'],
    ['publish.x.y', 'there is no activity "publish.x.y"'],
    ['connect.x', 'there is no activity "connect.x"'],
    [{ 'publsh.x': { rate: '1/s' } }, 'there is no activity "publsh.x"'],
    [['connect', 'connect'], 'connect stands twice'],
    [['disconnect', 'publish'], 'disconnect cannot be done beside'],
    [['idle', 'publish'], 'idle cannot be done beside'],
    [['takeover', 'connect'], 'takeover and connect cannot be done at the same time'],
    [['publish', { disconnect: { share: '50%' } }], 'disconnect cannot be done beside'],
    ['churn', 'churn needs a rate and a time to stay'],
    [{ publish: { every: '1s', rate: '1/s' } }, 'every and rate cannot both'],
    [{ publish: { qos: 1 } }, 'unknown key "qos"'],
    [[], 'at least one entry'],
    [7, '7 stands here'],
    [null, 'nothing stands here'],
  ])('%j is refused', (run, message) => {
    expect(runFaults(run)).toEqual([expect.stringContaining(message)]);
  });

  test('an activity needs its entry in the group', () => {
    expect(runFaults('publish', { publish: undefined })).toEqual([
      'stages[0].run.devices: the group devices has nothing to publish',
    ]);
    expect(runFaults('subscribe', { subscribe: undefined })).toEqual([
      'stages[0].run.devices: the group devices has nothing to subscribe',
    ]);
  });
});

const ends = (stage: object, group: object = {}) => {
  const { forUs, until, deadlineUs } = accepted(staged(stage, group)).stages[0] ?? {};
  return { forUs, until, deadlineUs };
};

describe('how a stage ends', () => {
  test.each([
    [{ run: { devices: 'publish' } }, 'can never end: devices would publish for ever'],
    [{ run: { devices: 'idle' } }, 'can never end: devices would idle for ever'],
    [{ run: {} }, 'does nothing and never ends'],
    [{}, 'does nothing and never ends'],
    [
      { run: { devices: 'publish' }, for: '1s', until: 'devices.sent >= 1' },
      'by for or by until, not by both',
    ],
  ])('%j is refused', (stage, message) => {
    expect(complaints(staged(stage))).toEqual([expect.stringContaining(message)]);
  });

  test('by completion: connecting, subscribing, an exact count', () => {
    const connect = { rate: '10/s' };
    const none = { forUs: null, until: null };
    // 100 clients at 10 a second, and a minute.
    expect(ends({ run: { devices: 'connect' } }, { connect })).toEqual({
      ...none,
      deadlineUs: 70e6,
    });
    expect(ends({ run: { devices: 'subscribe' } }, { connect })).toEqual({
      ...none,
      deadlineUs: 70e6,
    });
    const publish = { topic: 't', payload: '40B', every: '1s', count: 50 };
    expect(ends({ run: { devices: 'publish' } }, { publish })).toEqual({
      ...none,
      deadlineUs: 86_400e6,
    });
  });

  test('the prologue of a stage with for has the deadline of connecting', () => {
    const plan = accepted(
      planOf({ stages: [{ name: 'load', run: { devices: 'publish' }, for: '1h' }] }),
    );
    expect(plan.stages[0]).toMatchObject({ forUs: 3_600e6, deadlineUs: 60.1e6 });
  });

  test('a pause is a stage that runs nothing for a time', () => {
    expect(accepted(staged({ for: '10s' })).stages[0]).toMatchObject({ run: [], forUs: 10e6 });
  });
});

const untilPlan = (text: string) => staged({ run: { devices: 'publish' }, until: text });

describe('conditions', () => {
  test.each([
    [
      'devices.bytes_sent >= 100GB',
      { metric: 'bytes_sent', op: '>=', value: 100e9, fromRun: false },
    ],
    ['run.devices.sent>=1.5k', { metric: 'sent', op: '>=', value: 1_500, fromRun: true }],
    ['devices.connected == 100', { metric: 'connected', op: '==', value: 100 }],
    ['devices.wire_sent > 1KiB', { metric: 'wire_sent', value: 1_024 }],
  ])('%s', (text, expected) => {
    expect(accepted(untilPlan(text)).stages[0]?.until).toMatchObject({
      text,
      subject: 'devices',
      ...expected,
    });
  });

  test.each([
    ['devices.sent', 'is not a condition'],
    ['devices.sent => 5', 'is not a condition'],
    ['sent >= 5', 'is not a condition'],
    ['device.sent >= 5', 'there is no group or stream "device"'],
    ['devices.snt >= 5', 'there is no metric "snt"'],
    ['devices.inflight >= 5', 'inflight is not a counter'],
    ['devices.publish_time >= 5ms', 'publish_time is not a counter'],
    ['devices.lost >= 5', 'lost is known only after the load'],
    ['devices.bytes_sent >= 5', '5 has no unit'],
    ['devices.sent >= 5GB', '"5GB" is not a count'],
    ['devices.constructor >= 5', 'there is no metric "constructor"'],
  ])('%s is refused', (text, message) => {
    expect(complaints(untilPlan(text))).toEqual([
      expect.stringMatching(new RegExp(`^stages\\[0\\]\\.until: .*${message}`)),
    ]);
  });

  test('a stream may be named, for what is counted a stream', () => {
    const publish = [{ name: 'a', topic: 'a', payload: '40B', every: '1s' }];
    const plan = (text: string) =>
      staged({ run: { devices: 'publish' }, until: text }, { publish });
    expect(accepted(plan('devices.a.sent > 5')).stages[0]?.until?.subject).toBe('devices.a');
    expect(accepted(plan('devices.sent > 5')).stages[0]?.until?.subject).toBe('devices');
    expect(complaints(plan('devices.a.connected > 5'))[0]).toContain(
      'for a group, not for a stream',
    );
  });
});

test('names and references are checked', () => {
  expect(
    complaints(
      planOf({
        stages: [
          { name: 'load', run: { device: 'publish' }, for: '1s' },
          { name: 'load', for: '1s' },
        ],
      }),
    ),
  ).toEqual([
    'stages[0].run.device: there is no group "device"',
    'stages[1].name: the stage load stands twice',
  ]);
  expect(complaints(planOf({}, { target: 'broke' }))).toEqual([
    'groups.devices.target: there is no target "broke"',
  ]);
  const twice = [
    { name: 'a', topic: 'a', payload: '40B', every: '1s' },
    { name: 'a', topic: 'b', payload: '40B', every: '1s' },
  ];
  expect(complaints(planOf({}, { publish: twice }))).toEqual([
    'groups.devices.publish[1].name: the name a stands twice',
  ]);
  const unnamed = twice.map(({ topic }) => ({ topic, payload: '40B', every: '1s' }));
  expect(complaints(planOf({}, { publish: unnamed }))).toHaveLength(2);
  expect(complaints(planOf({ groups: {} }))).toContain('groups: at least one group is needed');
});

test('a group cannot be called run', () => {
  const plan = planOf();
  const text = JSON.stringify(plan).replaceAll('"devices"', '"run"');
  expect(complaints(text)).toEqual([
    'groups.run: a group cannot be called run: conditions use the word',
  ]);
});

test('every key can stand behind a variable', () => {
  const plan = accepted(
    planOf(
      {
        vars: { clients: 50, qos: 1, length: '3s', retain: true, keep: 'false' },
        stages: [{ name: 'load', run: { devices: 'publish' }, for: '{{length}}' }],
      },
      {
        clients: '{{clients}}',
        connect: { cleanStart: '{{keep}}' },
        publish: {
          topic: 't',
          payload: '40B',
          every: '1s',
          qos: '{{qos}}',
          retain: '{{retain}}',
        },
      },
    ),
  );
  expect(plan.groups[0]).toMatchObject({
    clients: 50,
    connect: { cleanStart: false },
    publish: [{ qos: 1, retain: true }],
  });
  expect(plan.stages[0]?.forUs).toBe(3e6);
  expect(accepted(streamOf({})).vars).toEqual({});
});
