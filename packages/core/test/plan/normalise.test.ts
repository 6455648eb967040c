import { describe, expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';
import { accepted, complaints, planOf, streamOf } from './plan-fixture.ts';

const closedLoop = (more: object) =>
  accepted(streamOf({ every: undefined, rate: 'max', ...more })).groups[0]?.publish[0];

describe('defaults', () => {
  test('are those of the plan language', () => {
    const plan = accepted(planOf({}, { subscribe: { topic: 'down/{{n}}' } }));
    expect(plan).toMatchObject({
      description: '',
      labels: {},
      settle: { quietUs: 5e6, maxUs: 30e6 },
      drainUs: 5e6,
      backlogUs: 5e6,
      cleanup: null,
      targets: { broker: { urls: [{ scheme: 'mqtt', host: '127.0.0.1', port: 1883 }] } },
      limits: {
        maxDurationUs: 86_400e6,
        onAgentLoss: 'abort',
        agentGraceUs: 10e6,
        agents: { count: null, labels: {} },
        generator: {
          latenessP99Us: { degraded: 50_000, invalid: 500_000 },
          droppedShare: { degraded: 0.001, invalid: 0.01 },
          framesMissingShare: { degraded: 0, invalid: 0.001 },
          startSkewUs: { degraded: 100_000, invalid: 1_000_000 },
          histogramOverflow: { degraded: 0, invalid: null },
        },
      },
    });
    expect(plan.groups[0]).toEqual({
      name: 'devices',
      target: 'broker',
      clients: 100,
      clientId: '{{run}}-{{group}}-{{n}}',
      username: null,
      password: null,
      from: null,
      sourceAddresses: [],
      respond: [],
      connect: {
        ratePerS: 1_000,
        keepAliveS: 60,
        cleanStart: true,
        timeoutUs: 10e6,
        retries: 3,
        backoffMinUs: 1e6,
        backoffMaxUs: 8e6,
        sessionExpiryS: null,
        will: null,
        properties: null,
        auth: null,
      },
      publish: [
        {
          name: null,
          subject: 'devices',
          topic: 'up/{{n}}',
          qos: 1,
          retain: false,
          payload: { kind: 'size', bytes: 200, fill: 'repeat' },
          pace: { kind: 'every', everyUs: 1e6 },
          arrivals: 'even',
          phase: 'even',
          inflight: 32,
          ackTimeoutUs: 30e6,
          count: null,
          verify: true,
          expiryS: null,
          topicAlias: null,
          properties: null,
          request: null,
        },
      ],
      subscribe: [
        {
          name: null,
          subject: 'devices',
          topics: ['down/{{n}}'],
          qos: 0,
          share: null,
          options: {
            noLocal: false,
            retainAsPublished: false,
            retainHandling: 0,
            identifier: null,
          },
        },
      ],
    });
  });

  test('a closed loop has one message in flight, unless the plan says otherwise', () => {
    expect(closedLoop({})).toMatchObject({ pace: { kind: 'max' }, inflight: 1, qos: 0 });
    expect(closedLoop({ inflight: 10 })).toMatchObject({ inflight: 10 });
  });

  test('maxDuration makes room for a long plan', () => {
    const plan = accepted(
      planOf({ stages: [{ name: 'soak', run: { devices: 'publish' }, for: '72h' }] }),
    );
    expect(plan.limits.maxDurationUs).toBeCloseTo(73 * 3_600e6 + 100_000, 0);
  });
});

describe('the normalised plan', () => {
  test('is plain JSON: it survives the way to an agent unchanged', () => {
    const plan = accepted(planOf());
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  test('connect over a time becomes a rate', () => {
    const plan = accepted(planOf({}, { connect: { over: '20s' } }));
    expect(plan.groups[0]?.connect.ratePerS).toBe(5);
  });

  test.each([
    ['mqtt://h', { host: 'h', port: 1883 }],
    ['mqtt://h:1', { host: 'h', port: 1 }],
    ['MQTT://h/', { host: 'h', port: 1883 }],
    ['mqtt://[::1]:2', { host: '::1', port: 2 }],
    ['mqtt://[fe80::1%eth0]', { host: 'fe80::1%eth0', port: 1883 }],
  ])('address %s', (url, expected) => {
    const plan = accepted(planOf({ targets: { broker: { protocol: 'mqtt', urls: [url] } } }));
    expect(plan.targets['broker']).toMatchObject({ urls: [expected] });
  });

  test.each([
    ['h:1883', 'is not an address'],
    ['http://h', 'is not an address of MQTT'],
    ['mqtt://', 'is not host:port'],
    ['mqtt://h:0', 'there is no port 0'],
    ['mqtt://h:70000', 'there is no port 70000'],
    ['mqtt://u:p@h', 'cannot hold a user name'],
    ['mqtt://h/path', 'has no path'],
    ['mqtt://::1', 'is not host:port'],
    ['mqtt://{{env.HOST}}', 'cannot hold templates'],
    ['mqtt://{{n}}', 'cannot hold templates'],
  ])('address %s is refused', (url, message) => {
    const plan = planOf({ targets: { broker: { protocol: 'mqtt', urls: [url] } } });
    expect(complaints(plan)).toEqual([expect.stringContaining(message)]);
  });

  test('several named streams have subjects of their own', () => {
    const publish = [
      { name: 'telemetry', topic: 't', payload: '40B', every: '2s' },
      { name: 'heartbeat', topic: 'h', payload: '40B', every: '1m' },
    ];
    const plan = accepted(
      planOf(
        { stages: [{ name: 'load', run: { devices: 'publish.heartbeat' }, for: '1m' }] },
        { publish },
      ),
    );
    expect(plan.groups[0]?.publish.map(({ subject }) => subject)).toEqual([
      'devices.telemetry',
      'devices.heartbeat',
    ]);
    expect(plan.stages[0]?.run[0]?.activities).toEqual([
      { kind: 'publish', stream: 1, pace: { kind: 'every', everyUs: 60e6 }, inflight: 32 },
    ]);
  });

  test('limits of the generator can be moved and switched off', () => {
    const generator = {
      lateness: { degraded: '10ms', invalid: 'off' },
      dropped: { degraded: 'any', invalid: '50%' },
      framesMissing: { invalid: 'off' },
    };
    expect(accepted(planOf({ limits: { generator } })).limits.generator).toMatchObject({
      latenessP99Us: { degraded: 10_000, invalid: null },
      droppedShare: { degraded: 0, invalid: 0.5 },
      framesMissingShare: { degraded: 0, invalid: null },
      startSkewUs: { degraded: 100_000, invalid: 1_000_000 },
    });
  });

  test('a time limit from the command line acts as maxDuration', () => {
    const plan = accepted(planOf({ limits: { maxDuration: '1h' } }), { timeoutUs: 60e6 });
    expect(plan.limits.maxDurationUs).toBe(60e6);
  });

  test('labels of the command line stand beside those of the plan', () => {
    const plan = accepted(planOf({ labels: { team: 'a', build: 7 } }), { labels: { team: 'b' } });
    expect(plan.labels).toEqual({ team: 'b', build: '7' });
  });
});

const payloadOf = (payload: unknown) => accepted(streamOf({ payload })).groups[0]?.publish[0];

describe('payloads', () => {
  test('text and bytes are sent as they are, without a stamp', () => {
    expect(payloadOf({ text: 'hello' })).toMatchObject({
      payload: { kind: 'text', text: 'hello' },
      verify: false,
    });
    expect(payloadOf({ hex: '00 FF' })).toMatchObject({
      payload: { kind: 'hex', hex: '00ff' },
      verify: false,
    });
    expect(payloadOf({ size: '1KiB' })).toMatchObject({
      payload: { kind: 'size', bytes: 1_024, fill: 'repeat' },
      verify: true,
    });
  });

  test('a payload too small for the stamp is refused, unless nothing is verified', () => {
    expect(complaints(streamOf({ payload: '39B' }))).toEqual([
      'groups.devices.publish.payload: 39 bytes are too few for the stamp, which has 40',
    ]);
    expect(complaints(streamOf({ payload: '39B', qos: 0, verify: 'on' }))).toHaveLength(1);
    for (const verify of ['off', false]) {
      const plan = accepted(streamOf({ payload: '0B', verify }));
      expect(plan.groups[0]?.publish[0]?.verify).toBe(false);
    }
    expect(accepted(streamOf({ payload: '40B' })).groups[0]?.publish[0]?.verify).toBe(true);
  });

  test.each([
    [{}, 'exactly one of size, text, hex'],
    [{ size: '40B', text: 'x' }, 'exactly one of size, text, hex'],
    [{ hex: '0' }, 'not pairs of hexadecimal digits'],
    [{ hex: 'zz' }, 'not pairs of hexadecimal digits'],
    ['300MB', 'does not fit into a packet'],
    ['hello', '"hello" is not a size'],
    [200, '200 has no unit'],
  ])('%j is refused', (payload, message) => {
    expect(complaints(streamOf({ payload }))).toEqual([expect.stringContaining(message)]);
  });
});

describe('topics, filters and identity', () => {
  const longest = 'x'.repeat(65_535);

  test.each(['a', '/', 'a//b', '$SYS/x', 'ä/{{n}}/{{seq}}', longest])('topic %#', (topic) => {
    expect(accepted(streamOf({ topic })).groups[0]?.publish[0]?.topic).toBe(topic);
  });

  test.each([
    ['', 'at least one character'],
    ['a/+/b', '"+" is a wildcard'],
    ['#', '"#" is a wildcard'],
    ['a\u0000', 'U+0000'],
    [`${longest}x`, 'longer than 65535 bytes'],
    [`{{n}}${longest}`, 'longer than 65535 bytes'],
    ['ä'.repeat(40_000), 'longer than 65535 bytes'],
    ['{{n', 'never closed'],
    ['{{n * 2}}', 'not a template expression'],
  ])('topic %# is refused: %s', (topic, message) => {
    expect(complaints(streamOf({ topic }))).toEqual([
      expect.stringMatching(
        new RegExp(`^groups\\.devices\\.publish\\.topic: .*${escaped(message)}`),
      ),
    ]);
  });

  test.each(['#', '+', 'a/#', '+/b/+', 'a/{{n}}/+', '$SYS/#', ['a', 'b/#']])(
    'filter %j',
    (topic) => {
      expect(accepted(planOf({}, { subscribe: { topic } })).groups[0]?.subscribe).toHaveLength(1);
    },
  );

  test.each([
    ['a/#/b', 'stands alone in the last level'],
    ['a#', 'stands alone in the last level'],
    ['a+/b', 'stands alone in its level'],
    ['{{n}}+', 'stands alone in its level'],
    ['', 'at least one character'],
    ['{{seq}}', '{{seq}} cannot stand here'],
    ['{{uuid}}', '{{uuid}} cannot stand here'],
  ])('filter %s is refused', (topic, message) => {
    expect(complaints(planOf({}, { subscribe: { topic } }))).toEqual([
      expect.stringContaining(message),
    ]);
  });

  test('what changes with each message cannot identify a client', () => {
    expect(complaints(planOf({}, { username: 'u{{seq}}' }))[0]).toContain('{{seq}} cannot stand');
    expect(complaints(planOf({}, { password: '{{now}}' }))[0]).toContain('{{now}} cannot stand');
  });
});

test.each([
  ['keepAlive', '65536s', 'out of range'],
  ['keepAlive', '1500ms', 'whole number of seconds'],
  ['keepAlive', 60, '60 has no unit'],
  ['backoff', { min: '9s' }, 'shortest pause'],
  ['over', '1s', 'rate and over cannot both'],
])('connect.%s: %s is refused', (key, value, message) => {
  const connect = { rate: key === 'over' ? '1/s' : undefined, [key]: value };
  expect(complaints(planOf({}, { connect }))).toEqual([expect.stringContaining(message)]);
});

test.each([
  [{ every: undefined }, 'how often to publish is missing'],
  [{ rate: '5/s' }, 'every and rate cannot both be given'],
  [{ every: undefined, rate: 'fast' }, '"fast" is not a rate'],
])('the pace %j is refused', (stream, message) => {
  expect(complaints(streamOf(stream))).toEqual([expect.stringContaining(message)]);
});

describe('secrets', () => {
  const plan = planOf(
    { vars: { user: '{{env.MQTT_USER}}' } },
    { username: '{{user}}', password: '{{env.MQTT_PASSWORD}}' },
  );

  test('are named, and stay out of the plan', () => {
    const read = readPlan(JSON.stringify(plan));
    expect(read).toMatchObject({
      ok: true,
      secrets: ['MQTT_PASSWORD', 'MQTT_USER'],
      plan: { groups: [{ username: '{{env.MQTT_USER}}', password: '{{env.MQTT_PASSWORD}}' }] },
    });
  });

  test('must be there where an environment is given', () => {
    expect(complaints(plan, { env: { MQTT_USER: 'x' } })).toEqual([
      'groups.devices.password: the environment variable MQTT_PASSWORD is not set',
    ]);
    const env = { MQTT_USER: 'secret-user', MQTT_PASSWORD: 'secret' };
    expect(JSON.stringify(accepted(plan, { env }))).not.toContain('secret');
  });
});

test('what is most likely a slip is a warning', () => {
  const text = JSON.stringify(
    planOf(
      {
        vars: { unused: 1 },
        targets: {
          broker: { protocol: 'mqtt', urls: ['mqtt://h'] },
          spare: { protocol: 'mqtt', urls: ['mqtt://h'] },
        },
        limits: { maxDuration: '1s' },
        stages: [{ name: 'rest', for: '1h' }],
      },
      { password: 'plain' },
    ),
  );
  const read = readPlan(text);
  const warnings = read.ok ? read.warnings.map(({ message }) => message) : [];
  expect(warnings.toSorted()).toEqual([
    'a password written into the plan is printed in reports',
    'no group uses the target spare',
    'no stage runs the group devices',
    'the stages take longer than maxDuration: the run will be aborted',
    'the variable unused is never used',
  ]);
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
