import { type Fault, type More, only } from '@squall/mqtt/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  atLastOf,
  type Case,
  DEVICES,
  type FaultyNeeds,
  expectedOf,
  faultyRun,
  FIVE,
  MESSAGES,
  of,
  outcomeOf,
  SOME,
} from '../fixtures/faulty-run.ts';
import { Fleet } from '../fixtures/fleet.ts';

/**
 * Faults at QoS 2, of sessions and shared subscriptions, and of MQTT 5: each stands in the report with
 * its exact count, and nothing else does.
 */
let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start(5);
});
afterAll(() => fleet.close());

const VERSION_5: FaultyNeeds = { target: { version: '5' } };
const QOS_2: FaultyNeeds = { publish: { qos: 2 }, subscribe: { qos: 2 } };
const IMPATIENT: FaultyNeeds = { ...QOS_2, impatient: true };
const LATE = 'devices publish_failed: no acknowledgement within the time-out';
/** Every second message of one device: five of its ten. */
const halfOf = (n: number) => ({ ...of(`device-${n}`), every: 2 });

describe.concurrent('QoS 2', { timeout: 90_000 }, () => {
  test.for<Case>([
    [
      'what the handshake makes good: the same packet twice, PUBREC and PUBREL of the subscriber lost',
      [
        { way: 'toSubscriber', kind: 'duplicate', ...SOME },
        { way: 'recToBroker', kind: 'drop', ...SOME },
        { way: 'relToSubscriber', kind: 'drop', ...SOME },
      ],
      {},
      QOS_2,
    ],
    [
      'messages lost on the way in',
      [{ way: 'toBroker', kind: 'drop', ...SOME }],
      { [LATE]: FIVE, 'ledger unresolved': FIVE },
      IMPATIENT,
    ],
    [
      'messages lost by the broker',
      [{ way: 'toBroker', kind: 'lose', ...SOME }],
      { 'ledger lost': FIVE },
      QOS_2,
    ],
    [
      'messages lost on the way out',
      [{ way: 'toSubscriber', kind: 'drop', ...SOME }],
      { 'ledger lost': FIVE },
      QOS_2,
    ],
    [
      'messages delivered twice',
      [{ way: 'toSubscriber', kind: 'again', ...SOME }],
      { 'ledger duplicated': FIVE },
      QOS_2,
    ],
    [
      'PUBREC and PUBCOMP withheld, PUBREL lost',
      [
        { way: 'recToPublisher', kind: 'drop', ...halfOf(1) },
        { way: 'compToPublisher', kind: 'drop', ...halfOf(2) },
        { way: 'relToBroker', kind: 'drop', ...halfOf(3) },
      ],
      {
        [LATE]: 3 * FIVE,
        'ledger unresolved': 3 * FIVE,
        'ledger unresolvedArrived': 3 * FIVE,
      },
      IMPATIENT,
    ],
    [
      'a connection reset between PUBREC and PUBREL',
      [{ way: 'relToBroker', kind: 'cut', ...atLastOf('device-2') }],
      {
        'devices disconnected: connection reset': 1,
        'devices publish_failed: connection lost': 1,
        'ledger unresolved': 1,
        'ledger unresolvedArrived': 1,
      },
      { ...QOS_2, publish: { qos: 2, inflight: 1 } },
    ],
    [
      'messages at QoS 1',
      [{ way: 'toSubscriber', kind: 'rewrite', to: { qos: 1 }, ...SOME }],
      { 'ledger wrongQos': FIVE },
      QOS_2,
    ],
    ['QoS 1 granted', [], {}, { ...QOS_2, grants: 1 }],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });
});

/** One device, so that its messages are the only ones under way. */
const KEPT: FaultyNeeds = {
  devices: 1,
  // What comes after a connection was made again.
  quiet: '2s',
  device: { connect: { cleanStart: false, backoff: { min: '10ms', max: '20ms' } } },
  reader: { connect: { cleanStart: false, backoff: { min: '10ms', max: '20ms' } } },
};
const CUT_OFF = { 'readers disconnected: closed by broker': 1 };
// In order: a reset would take messages with it that have come but were not read yet.
const inOrder = { kind: 'cut', passing: 0 } as const;
const cutReader: Fault = { way: 'toSubscriber', ...inOrder, ...only(MESSAGES) };
const again = { ...of('reader-1'), ...only(2) };
const SENT_AGAIN = { 'devices disconnected: closed by broker': 1, 'devices retransmitted': 1 };

describe.concurrent('sessions', { timeout: 90_000 }, () => {
  test.for<Case>([
    ['kept: the message comes later', [cutReader], { ...CUT_OFF, 'ledger queued': 1 }, KEPT],
    [
      'kept: a message whose PUBACK was lost comes again',
      [{ way: 'ackToBroker', ...inOrder, ...only(MESSAGES) }],
      { ...CUT_OFF, 'ledger duplicated': 1 },
      KEPT,
    ],
    [
      'lost',
      [cutReader, { way: 'connect', kind: 'forget', ...again }],
      { ...CUT_OFF, 'ledger lost': 1, 'ledger lostDisconnected': 1, 'ledger lostSession': 1 },
      KEPT,
    ],
    [
      'lost, and said to be kept',
      [
        cutReader,
        { way: 'connect', kind: 'forget', ...again },
        { way: 'connack', kind: 'rewrite', to: { sessionPresent: true }, ...again },
      ],
      { ...CUT_OFF, 'ledger lost': 1, 'ledger lostDisconnected': 1 },
      KEPT,
    ],
    [
      'of a publisher, whose message did not arrive',
      [{ way: 'toBroker', ...inOrder, ...atLastOf('device-1') }],
      SENT_AGAIN,
      KEPT,
    ],
    [
      'of a publisher, whose PUBACK did not arrive',
      [{ way: 'ackToPublisher', ...inOrder, ...atLastOf('device-1') }],
      { ...SENT_AGAIN, 'ledger duplicated': 1 },
      KEPT,
    ],
    [
      'of a publisher at QoS 2, between PUBREC and PUBREL: once all the same',
      [{ way: 'relToBroker', ...inOrder, ...atLastOf('device-1') }],
      SENT_AGAIN,
      { ...KEPT, ...QOS_2 },
    ],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });
});

const SHARED: FaultyNeeds = { reader: { clients: 2 }, subscribe: { share: 'both' } };

describe.concurrent('shared subscriptions', { timeout: 90_000 }, () => {
  test.for<Case>([
    ['lost', [{ way: 'toSubscriber', kind: 'drop', ...SOME }], { 'ledger lost': FIVE }, SHARED],
    [
      'twice',
      [{ way: 'toSubscriber', kind: 'again', ...SOME }],
      { 'ledger duplicated': FIVE },
      { ...SHARED, ...VERSION_5 },
    ],
    [
      'to another member, which is as good',
      [{ way: 'toSubscriber', kind: 'misdeliver', to: 'reader-2', ...of('reader-1'), every: 4 }],
      {},
      SHARED,
    ],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });
});

const AUTH = { type: 'auth', reasonCode: 0x18 } as const;
const SCRAM: FaultyNeeds = {
  ...VERSION_5,
  device: {
    username: 'somebody',
    password: 'secret',
    connect: { retries: 0, auth: { method: 'SCRAM-SHA-256' } },
  },
};
const BY_LIMITS = 'not sent: by the limits in CONNACK';
const unknownAlias: More = [
  {
    type: 'publish',
    topic: '',
    payload: Buffer.from('x'),
    qos: 0,
    dup: false,
    retain: false,
    packetId: 0,
    properties: { topicAlias: 9 },
  },
];

describe.concurrent('MQTT 5', { timeout: 90_000 }, () => {
  test.for<Case>([
    [
      'nothing: one message at a time, and a PUBACK that says that nobody had subscribed',
      [{ way: 'ackToPublisher', kind: 'rewrite', to: { reasonCode: 0x10 }, ...SOME }],
      {},
      { ...VERSION_5, connack: { receiveMaximum: 1 } },
    ],
    [
      'a topic alias that was never said, and AUTH out of the blue',
      [
        { way: 'toSubscriber', kind: 'send', more: unknownAlias, ...only(DEVICES * MESSAGES) },
        { way: 'ackToPublisher', kind: 'send', more: [AUTH], ...atLastOf('device-2') },
      ],
      {
        'readers disconnected: malformed packet: PUBLISH with a topic alias above the maximum [MQTT-3.1.2-26]': 1,
        'devices disconnected: protocol error: AUTH that nothing was asked by [MQTT-4.12.0-2]': 1,
      },
      VERSION_5,
    ],
    [
      'PUBCOMP: no such message',
      [{ way: 'compToPublisher', kind: 'rewrite', to: { reasonCode: 0x92 }, ...SOME }],
      {
        'devices publish_failed: packet identifier not found (0x92)': FIVE,
        'ledger refused': FIVE,
        'ledger unresolved': FIVE,
        'ledger unresolvedArrived': FIVE,
      },
      { ...VERSION_5, ...QOS_2 },
    ],
    [
      'more at a time than a subscriber takes',
      [{ way: 'relToSubscriber', kind: 'drop' }],
      {
        'readers disconnected: protocol error: more QoS 2 messages than the receive maximum [MQTT-3.3.4-9]': 1,
        'ledger lost': 1,
        'ledger lostDisconnected': 1,
      },
      {
        ...VERSION_5,
        ...QOS_2,
        devices: 1,
        ignoresReceiveMaximum: true,
        // The last message is the one too many.
        reader: { connect: { properties: { receiveMaximum: MESSAGES - 1 } } },
      },
    ],
    [
      'authentication that is none of the method',
      [],
      {
        'devices connect_failed: protocol error: SCRAM: nonce that is not of this exchange':
          DEVICES,
        'devices dropped: not_connected': DEVICES * MESSAGES,
      },
      { ...SCRAM, auth: () => ({ reasonCode: 0x18, data: Buffer.from('r=garbage,s=,i=1') }) },
    ],
    [
      'a method of authentication that the broker does not have',
      [],
      {
        'devices connect_failed: bad authentication method (0x8c)': DEVICES,
        'devices dropped: not_connected': DEVICES * MESSAGES,
      },
      SCRAM,
    ],
    [
      'a broker without QoS 1',
      [],
      { [`devices publish_failed: ${BY_LIMITS}: QoS not supported (0x9b)`]: DEVICES * MESSAGES },
      { ...VERSION_5, connack: { maximumQos: 0 } },
    ],
    [
      'a broker that takes small packets only',
      [],
      { [`devices publish_failed: ${BY_LIMITS}: packet too large (0x95)`]: DEVICES * MESSAGES },
      { ...VERSION_5, connack: { maximumPacketSize: 60 } },
    ],
    [
      'a broker without retained messages',
      [],
      { [`devices publish_failed: ${BY_LIMITS}: retain not supported (0x9a)`]: DEVICES * MESSAGES },
      { ...VERSION_5, connack: { retainAvailable: false }, publish: { retain: true } },
    ],
    [
      'a broker without wildcards',
      [],
      {
        [`readers subscribe_failed: ${BY_LIMITS}: wildcard subscriptions not supported (0xa2)`]: 1,
      },
      { ...VERSION_5, connack: { wildcardSubscriptionAvailable: false } },
    ],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });
});

test('a PINGREQ without an answer', { timeout: 60_000 }, async () => {
  const { found } = await faultyRun(fleet, {
    faults: [{ way: 'pingresp', kind: 'drop', ...of('device-1') }],
    device: { connect: { keepAlive: '1s' } },
    stages: [
      { name: 'connect', run: { devices: 'connect' } },
      { name: 'idle', run: { devices: 'idle' }, for: '3500ms' },
    ],
  });
  expect(found).toEqual({ 'devices disconnected: keep-alive timeout: no PINGRESP': 1 });
});
