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
  ['tls', target({ tls: { verify: false } }), 'tls is'],
  ['mqtts', target({ urls: ['mqtts://h'] }), 'mqtts:// is'],
  ['ws', target({ urls: ['ws://h'] }), 'ws:// is'],
  ['wss', target({ urls: ['wss://h/mqtt'] }), 'wss:// is'],
  ['several urls', target({ urls: ['mqtt://a', 'mqtt://b'] }), 'several urls of a target are'],
  ['spread', target({ spread: 'blocks' }), 'spread is'],
  [
    'clients from a file',
    planOf({}, { from: 'devices.csv' }),
    'from: (clients from a CSV file) is',
  ],
  ['csv columns', planOf({}, { clientId: '{{csv.serial}}' }), '{{csv.…}} is'],
  ['source addresses', planOf({}, { sourceAddresses: ['10.0.0.1'] }), 'sourceAddresses are'],
  ['consume', planOf({}, { consume: { topic: 't', group: 'g' } }), 'consume is'],
  ['session expiry', planOf({}, { connect: { sessionExpiry: '1h' } }), 'sessionExpiry is'],
  ['will', planOf({}, { connect: { will: { topic: 't', payload: '1B' } } }), 'a will is'],
  ['connect properties', planOf({}, { connect: { properties: {} } }), 'connect properties are'],
  ['QoS 2', streamOf({ qos: 2 }), 'QoS 2 is'],
  ['QoS 2 subscriptions', planOf({}, { subscribe: { topic: 't', qos: 2 } }), 'QoS 2 is'],
  ['poisson', streamOf({ arrivals: 'poisson' }), 'arrivals: poisson is'],
  ['file payloads', streamOf({ payload: { file: 'x.bin' } }), 'file payloads are'],
  ['json payloads', streamOf({ payload: { json: { a: 1 } } }), 'json payloads are'],
  ['template payloads', streamOf({ payload: { template: '{{n}}' } }), 'template payloads are'],
  ['templates in text', streamOf({ payload: { text: 'x{{n}}' } }), 'template payloads are'],
  [
    'verified text',
    streamOf({ payload: { text: 'x'.repeat(50) }, verify: 'on' }),
    'verify: on with a text payload is',
  ],
  ['topic lists', streamOf({ topic: ['a', 'b'] }), 'a list of topics is'],
  ['publish properties', streamOf({ properties: {} }), 'publish properties are'],
  ['topic alias', streamOf({ topicAlias: 10 }), 'topicAlias is'],
  ['expiry', streamOf({ expiry: '1h' }), 'expiry is'],
  ['share', planOf({}, { subscribe: { topic: 't', share: 'g' } }), 'share is'],
  [
    'subscription options',
    planOf({}, { subscribe: { topic: 't', options: { noLocal: true } } }),
    'subscription options are',
  ],
  ['ramp', stages({ devices: { ramp: { from: '1/s', to: '2/s' } } }), 'ramp is'],
  [
    'ramp of a stream',
    stages({ devices: { publish: { ramp: { from: '1/s', to: '2/s' } } } }),
    'ramp is',
  ],
  ['steps', stages({ devices: { steps: [{ rate: '1/s' }] } }), 'steps are'],
  ['spike', stages({ devices: { publish: { spike: {} } } }), 'spike is'],
  ['churn', stages({ devices: 'churn' }), 'churn is'],
  ['churn in a list', stages({ devices: ['publish', 'churn'] }), 'churn is'],
  ['churn with a rate', stages({ devices: { churn: { rate: '1/s' } } }), 'churn is'],
  [
    'disconnect storms',
    stages({ devices: { disconnect: { rate: '1/s' } } }),
    'a disconnect storm is',
  ],
  [
    'overrides of connect',
    stages({ devices: { connect: { rate: '1/s' } } }),
    'an override of connect in a stage is',
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
