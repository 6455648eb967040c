import { describe, expect, test } from 'vitest';
import { planOf, refused, streamOf } from './plan-fixture.ts';

const target = (more: object) =>
  planOf({ targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'], ...more } } });
const stages = (run: unknown) => planOf({ stages: [{ name: 'load', run, for: '10s' }] });

/** What the language has and this version has not: never ignored, always named. */
const REFUSED: readonly (readonly [string, unknown, string])[] = [
  ['probes', planOf({ probes: { p: { type: 'node', url: 'http://h' } } }), 'probes are'],
  ['balance', planOf({ balance: { equal: ['a.acked', 'b'] } }), 'balance is'],
  [
    'rocketmq',
    planOf({ targets: { broker: { protocol: 'rocketmq', nameServers: ['h:1'] } } }),
    'protocol rocketmq is',
  ],
  ['MQTT 3.1', target({ version: 3.1 }), 'MQTT 3.1 is'],
  ['MQTT 5', target({ version: 5 }), 'MQTT 5 is'],
  ['MQTT 5 as text', target({ version: '5' }), 'MQTT 5 is'],
  ['quic', target({ urls: ['quic://h'] }), 'quic:// is'],
  [
    'clients from a file',
    planOf({}, { from: 'devices.csv' }),
    'from: (clients from a CSV file) is',
  ],
  ['consume', planOf({}, { consume: { topic: 't', group: 'g' } }), 'consume is'],
  ['session expiry', planOf({}, { connect: { sessionExpiry: '1h' } }), 'sessionExpiry is'],
  ['will', planOf({}, { connect: { will: { topic: 't', payload: '1B' } } }), 'a will is'],
  ['connect properties', planOf({}, { connect: { properties: {} } }), 'connect properties are'],
  ['QoS 2', streamOf({ qos: 2 }), 'QoS 2 is'],
  ['QoS 2 subscriptions', planOf({}, { subscribe: { topic: 't', qos: 2 } }), 'QoS 2 is'],
  ['file payloads', streamOf({ payload: { file: 'x.bin' } }), 'file payloads are'],
  ['json payloads', streamOf({ payload: { json: { a: 1 } } }), 'json payloads are'],
  ['template payloads', streamOf({ payload: { template: '{{n}}' } }), 'template payloads are'],
  ['topic lists', streamOf({ topic: ['a', 'b'] }), 'a list of topics is'],
  ['publish properties', streamOf({ properties: {} }), 'publish properties are'],
  ['topic alias', streamOf({ topicAlias: 10 }), 'topicAlias is'],
  ['expiry', streamOf({ expiry: '1h' }), 'expiry is'],
  [
    'subscription options',
    planOf({}, { subscribe: { topic: 't', options: { noLocal: true } } }),
    'subscription options are',
  ],
  ['consume in a stage', stages({ devices: 'consume' }), 'consume is'],
  [
    'redistribute',
    planOf({ limits: { onAgentLoss: 'redistribute' } }),
    'onAgentLoss: redistribute is',
  ],
];

describe('described in the language, not in this version', () => {
  test.each(REFUSED)('%s', (_, plan, what) => {
    const errors = refused(plan);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      code: 'SQ_UNSUPPORTED',
      message: `${what} not supported by this version`,
    });
  });

  test('a wrong shape of it is told as such', () => {
    const [error] = refused(planOf({ probes: { p: { type: 'mysqll' } } }));
    expect(error).toMatchObject({ code: 'SQ_PLAN', hint: 'did you mean mysql?' });
  });
});
