import { describe, expect, test } from 'vitest';
import { accepted, planOf, refused } from './plan-fixture.ts';

const CONNECT = {
  cleanStart: false,
  sessionExpiry: '1h',
  will: {
    topic: 'gone/{{n}}',
    payload: { text: 'bye' },
    qos: 2,
    retain: true,
    delay: '5s',
    expiry: '1m',
    properties: { contentType: 'text/plain' },
  },
  properties: {
    receiveMaximum: 20,
    maximumPacketSize: '64KiB',
    topicAliasMaximum: 5,
    requestResponseInformation: true,
    userProperties: { site: 'a{{n}}' },
  },
  auth: { method: 'SCRAM-SHA-256' },
};
const PUBLISH = {
  topic: 't/{{n}}',
  qos: 2,
  payload: '100B',
  every: '1s',
  topicAlias: 3,
  expiry: '10s',
  properties: {
    responseTopic: 'answers/{{n}}',
    correlationData: '{{seq}}',
    payloadFormat: 'text',
    userProperties: { k: ['v', 'w'] },
  },
};
const SUBSCRIBE = {
  topic: 't/+',
  qos: 2,
  options: { noLocal: true, retainAsPublished: true, retainHandling: 2, identifier: 9 },
};
const GROUP = {
  username: 'u',
  password: 'p',
  connect: CONNECT,
  publish: PUBLISH,
  subscribe: SUBSCRIBE,
};

const target = (version: string) => ({
  targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'], version } },
});

describe('a plan of MQTT 5', () => {
  test('says all that CONNECT, PUBLISH and SUBSCRIBE can carry', () => {
    const plan = accepted(planOf(target('5'), GROUP));
    expect(plan.targets['broker']).toMatchObject({ version: '5' });
    expect(plan.groups[0]).toMatchObject({
      connect: {
        cleanStart: false,
        sessionExpiryS: 3_600,
        will: { topic: 'gone/{{n}}', qos: 2, retain: true, delayS: 5, expiryS: 60 },
        properties: {
          receiveMaximum: 20,
          maximumPacketSize: 65_536,
          topicAliasMaximum: 5,
          requestResponseInformation: true,
          requestProblemInformation: null,
          userProperties: [{ name: 'site', value: 'a{{n}}' }],
        },
        auth: { method: 'SCRAM-SHA-256' },
      },
      publish: [
        {
          qos: 2,
          topicAlias: 3,
          expiryS: 10,
          properties: {
            responseTopic: 'answers/{{n}}',
            correlationData: '{{seq}}',
            payloadFormat: 1,
            userProperties: [
              { name: 'k', value: 'v' },
              { name: 'k', value: 'w' },
            ],
          },
        },
      ],
      subscribe: [
        {
          qos: 2,
          options: { noLocal: true, retainAsPublished: true, retainHandling: 2, identifier: 9 },
        },
      ],
    });
  });

  test('counts that may be `true`, too, are told by their range', () => {
    const topicAlias = { publish: { ...PUBLISH, topicAlias: '100k' } };
    expect(refused(planOf(target('5'), topicAlias))[0]?.message).toBe(
      '100k is out of range: 1 to 65535, or true',
    );
    const identifier = { subscribe: { topic: 't', options: { identifier: '300M' } } };
    expect(refused(planOf(target('5'), identifier))[0]?.message).toBe(
      '300M is out of range: 1 to 268435455, or true',
    );
  });

  test.each<[string, Record<string, unknown>]>([
    ['sessionExpiry', { connect: { sessionExpiry: '1h' } }],
    ['properties', { connect: { properties: { receiveMaximum: 1 } } }],
    ['auth', { username: 'u', password: 'p', connect: { auth: { method: 'SCRAM-SHA-256' } } }],
    ['delay', { connect: { will: { topic: 't', delay: '5s' } } }],
    ['topicAlias', { publish: { ...PUBLISH, properties: undefined, expiry: undefined } }],
    ['expiry', { publish: { ...PUBLISH, properties: undefined, topicAlias: undefined } }],
    ['options', { subscribe: SUBSCRIBE }],
  ])('%s needs that version', (word, group) => {
    for (const version of ['3.1', '3.1.1']) {
      const [error, ...more] = refused(planOf(target(version), group));
      expect(more).toEqual([]);
      expect(error).toMatchObject({ code: 'SQ_PLAN', message: `${word} needs version: 5` });
    }
  });
});

test.each(['3.1', '3.1.1', '5'] as const)('clients of MQTT %s have QoS 0, 1 and 2', (version) => {
  for (const qos of [0, 1, 2]) {
    const group = {
      publish: { topic: 't', qos, payload: '100B', every: '1s' },
      subscribe: { topic: 't', qos },
    };
    const plan = accepted(planOf(target(version), group));
    expect(plan.targets['broker']).toMatchObject({ version });
    expect(plan.groups[0]?.publish[0]?.qos).toBe(qos);
    expect(plan.groups[0]?.subscribe[0]?.qos).toBe(qos);
  }
});
