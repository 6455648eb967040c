import { type Fault, type More, only } from '@squall/mqtt/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  atLastOf,
  type Case,
  DEVICES,
  expectedOf,
  faultyRun,
  type FaultyNeeds,
  FIVE,
  isFollowed,
  isLast,
  MESSAGES,
  of,
  outcomeOf,
  SOME,
} from '../fixtures/faulty-run.ts';
import { Fleet } from '../fixtures/fleet.ts';

/** Each fault of a broker of MQTT 3.1.1 stands in the report with its exact count, and nothing else. */
let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start(5);
});
afterAll(() => fleet.close());

const atLast = atLastOf('device-2');
/** For what is waited for in vain. */
const IMPATIENT: FaultyNeeds = { impatient: true };
const LATE = 'devices publish_failed: no acknowledgement within the time-out';
const STRAY = 'devices protocol_errors: PUBACK for a message that is not in flight [MQTT-2.3.1-6]';
const LOST_CONNECTION = 'devices publish_failed: connection lost';

describe.concurrent('messages', { timeout: 60_000 }, () => {
  test.for<Case>([
    ['nothing', [], {}],
    [
      'lost on the way in',
      [{ way: 'toBroker', kind: 'drop', ...SOME }],
      { [LATE]: FIVE, 'ledger unresolved': FIVE },
      IMPATIENT,
    ],
    ['lost by the broker', [{ way: 'toBroker', kind: 'lose', ...SOME }], { 'ledger lost': FIVE }],
    [
      'lost on the way out',
      [{ way: 'toSubscriber', kind: 'drop', ...SOME }],
      { 'ledger lost': FIVE },
    ],
    [
      'sent again as the same packet',
      [{ way: 'toSubscriber', kind: 'duplicate', ...SOME }],
      { 'ledger duplicated': FIVE },
    ],
    [
      'delivered again as another message',
      [{ way: 'toSubscriber', kind: 'again', ...SOME }],
      { 'ledger duplicated': FIVE },
    ],
    [
      'swapped',
      [{ way: 'toSubscriber', kind: 'swap', where: isFollowed, every: 8 }],
      { 'ledger reordered': 4 },
    ],
    ['delayed', [{ way: 'toSubscriber', kind: 'hold', ms: 20, where: isLast }], {}],
    ['a byte at a time', [{ way: 'toSubscriber', kind: 'trickle', ...only(3) }], {}],
    [
      'damaged',
      [{ way: 'toSubscriber', kind: 'corrupt', at: 50, ...SOME }],
      { 'ledger corrupted': FIVE, 'ledger lost': FIVE },
    ],
    [
      'to another topic',
      [{ way: 'toSubscriber', kind: 'rewrite', to: { topic: 'd/9' }, ...SOME }],
      { 'ledger wrongTopic': FIVE },
    ],
    [
      'to a topic that nobody subscribed',
      [{ way: 'toSubscriber', kind: 'rewrite', to: { topic: 'x' }, ...SOME }],
      { 'ledger wrongTopic': FIVE },
    ],
    [
      'at another QoS',
      [{ way: 'toSubscriber', kind: 'rewrite', to: { qos: 0 }, ...SOME }],
      { 'ledger wrongQos': FIVE },
    ],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });
});

describe.concurrent('acknowledgements', { timeout: 60_000 }, () => {
  test.for<Case>([
    [
      'withheld',
      [{ way: 'ackToPublisher', kind: 'drop', ...SOME }],
      { [LATE]: FIVE, 'ledger unresolved': FIVE, 'ledger unresolvedArrived': FIVE },
      IMPATIENT,
    ],
    ['twice', [{ way: 'ackToPublisher', kind: 'duplicate', ...SOME }], { [STRAY]: FIVE }],
    [
      'of other messages',
      [{ way: 'ackToPublisher', kind: 'rewrite', to: { packetId: 60_000 }, ...SOME }],
      { [LATE]: FIVE, [STRAY]: FIVE, 'ledger unresolved': FIVE, 'ledger unresolvedArrived': FIVE },
      IMPATIENT,
    ],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });
});

describe.concurrent('connections', { timeout: 60_000 }, () => {
  const refusals = [
    [1, 'unacceptable protocol version (0x01)'],
    [2, 'client id rejected (0x02)'],
    [3, 'server unavailable (0x03)'],
    [4, 'bad user name or password (0x04)'],
    [5, 'not authorized (0x05)'],
  ] as const;
  test('refused, each device with another return code', async () => {
    const faults = refusals.map(
      ([reasonCode], k): Fault => ({
        way: 'connect',
        kind: 'refuse',
        reasonCode,
        ...of(`device-${k + 1}`),
      }),
    );
    const { found } = await faultyRun(fleet, { faults, devices: 5 });
    expect(found).toEqual({
      ...Object.fromEntries(refusals.map(([, why]) => [`devices connect_failed: ${why}`, 1])),
      'devices dropped: not_connected': 5 * MESSAGES,
    });
  });

  test.for<Case>([
    [
      'reset at CONNECT, never answered, and ended within a CONNACK',
      [
        { way: 'connect', kind: 'cut', ...of('device-1') },
        { way: 'connack', kind: 'drop', ...of('device-2') },
        { way: 'connack', kind: 'cut', passing: 2, ...of('device-3') },
      ],
      {
        'devices connect_failed: connection reset': 1,
        'devices connect_failed: timed out': 1,
        'devices connect_failed: closed by broker': 1,
        'devices dropped: not_connected': 3 * MESSAGES,
      },
      IMPATIENT,
    ],
    [
      'ended within a PUBACK',
      [{ way: 'ackToPublisher', kind: 'cut', passing: 2, ...atLast }],
      {
        'devices disconnected: closed by broker': 1,
        [LOST_CONNECTION]: 1,
        'ledger unresolved': 1,
        'ledger unresolvedArrived': 1,
      },
    ],
    [
      'reset at a message',
      [{ way: 'toBroker', kind: 'cut', ...atLast }],
      { 'devices disconnected: connection reset': 1, [LOST_CONNECTION]: 1, 'ledger unresolved': 1 },
      // A reset takes acknowledgements with it that have come but were not read yet: there are none.
      { publish: { inflight: 1 } },
    ],
    [
      'whose CONNACK trickles, and whose SUBACK comes twice',
      [
        { way: 'connack', kind: 'trickle' },
        { way: 'suback', kind: 'duplicate' },
      ],
      {},
    ],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });
});

const bytes = (...values: number[]): Buffer => Buffer.from(values);
const subscribe = {
  type: 'subscribe',
  packetId: 1,
  subscriptions: [{ filter: 'a', qos: 1 }],
} as const;
const unexpected = (what: string): string =>
  `disconnected: protocol error: unexpected ${what} from the broker [MQTT-4.8.0-1]`;
const unasked = (what: string): string => `protocol_errors: ${what}`;

/** What a broker must not send, and what becomes of the connection of a client that gets it. */
const BREACHES: readonly (readonly [what: string, more: More, found: string])[] = [
  [
    'a remaining length of five bytes',
    Buffer.alloc(5, 0xff),
    'disconnected: malformed packet: remaining length of more than 4 bytes [MQTT-2.2.3]',
  ],
  [
    'a packet of 256 MiB',
    bytes(0x30, 0xff, 0xff, 0xff, 0x7f),
    'disconnected: malformed packet: packet above the size limit',
  ],
  ['a packet of type 0', bytes(0, 0), unexpected('packet of the reserved type 0')],
  ['what only clients send', [subscribe], unexpected('SUBSCRIBE')],
  [
    'a second CONNACK',
    [{ type: 'connack', sessionPresent: false, reasonCode: 0 }],
    unexpected('CONNACK'),
  ],
  [
    'an empty topic',
    bytes(0x30, 2, 0, 0),
    'disconnected: malformed packet: PUBLISH with an empty topic [MQTT-4.7.3-1]',
  ],
  [
    'UNSUBACK for nothing',
    [{ type: 'unsuback', packetId: 9, reasonCodes: [] }],
    unasked('UNSUBACK for a subscription that was not ended [MQTT-2.3.1-7]'),
  ],
];

describe.concurrent('a broker that breaks the protocol', { timeout: 60_000 }, () => {
  test('towards each device in another way', async () => {
    const outcome = await faultyRun(fleet, {
      devices: BREACHES.length,
      faults: BREACHES.map(
        ([, more], k): Fault => ({
          way: 'toBroker',
          kind: 'send',
          more,
          ...atLastOf(`device-${k + 1}`),
        }),
      ),
    });
    const found = BREACHES.map(([, , what]) => [`devices ${what}`, 1] as const);
    expect(outcome.found).toEqual(Object.fromEntries(found));
  });
});

describe.concurrent('subscriptions', { timeout: 60_000 }, () => {
  test.for<Case>([
    [
      'refused',
      [{ way: 'subscribe', kind: 'refuse', reasonCode: 0x80 }],
      { 'readers subscribe_failed: subscription refused (0x80)': 1 },
    ],
    [
      'never answered',
      [{ way: 'suback', kind: 'drop' }],
      {
        'ledger unexpected': DEVICES * MESSAGES,
        'readers subscribe_failed: no SUBACK within the time-out': 1,
      },
      IMPATIENT,
    ],
  ])('%s', async (one) => {
    expect(await outcomeOf(fleet, one)).toEqual(expectedOf(one));
  });

  test('messages go to the wrong subscriber', async () => {
    const { found } = await faultyRun(fleet, {
      faults: [
        { way: 'toSubscriber', kind: 'misdeliver', to: 'reader-2', ...of('reader-1'), every: 5 },
      ],
      reader: { clients: 2 },
      subscribe: { topic: 'd/{{n}}' },
    });
    expect(found).toEqual({ 'ledger lost': 2, 'ledger unexpected': 2 });
  });
});
