import { describe, expect, test } from 'vitest';
import {
  decodePacket,
  encodePacket,
  type Packet,
  PacketError,
  type ProtocolVersion,
} from '../../src/codec/index.ts';

function decode(bytes: number[], version: ProtocolVersion): Packet {
  const [header = 0] = bytes;
  return decodePacket({ bytes: Buffer.from(bytes), header, at: 2, end: bytes.length }, version);
}

const CONNECT_5 = [0, 4, 0x4d, 0x51, 0x54, 0x54, 5];
const CONNECT_4 = [0, 4, 0x4d, 0x51, 0x54, 0x54, 4];

describe('packets that break a rule of MQTT 5', () => {
  test.each<[string, number[], number, string]>([
    ['type 0', [0x00, 0], 0x81, '2.1.2'],
    ['CONNECT: another protocol', [0x10, 8, 0, 4, 0x4d, 0x51, 0x54, 0x54, 6, 0], 0x84, 'protocol'],
    ['CONNECT: reserved flag', [0x10, 0, ...CONNECT_5, 1], 0x81, '3.1.2-3'],
    ['CONNECT: will QoS without will', [0x10, 0, ...CONNECT_5, 0x08], 0x81, '3.1.2-11'],
    ['CONNECT: will QoS 3', [0x10, 0, ...CONNECT_5, 0x1c], 0x81, '3.1.2-14'],
    ['CONNECT: receive maximum 0', [0x10, 0, ...CONNECT_5, 2, 0, 0, 3, 33, 0, 0], 0x82, 'range'],
    ['CONNECT: bytes behind', [0x10, 0, ...CONNECT_5, 2, 0, 0, 0, 0, 0, 7], 0x81, 'longer'],
    ['CONNACK: flags', [0x20, 3, 2, 0, 0], 0x81, '3.2.2.1'],
    ['CONNACK: session of a refused client', [0x20, 3, 1, 0x87, 0], 0x82, '3.2.2-4'],
    ['CONNACK: unknown code', [0x20, 3, 0, 0x55, 0], 0x82, '3.2.2.3'],
    ['CONNACK: topic alias', [0x20, 6, 0, 0, 3, 35, 0, 1], 0x81, 'cannot carry'],
    ['CONNACK: unknown property', [0x20, 5, 0, 0, 2, 127, 0], 0x81, 'unknown property'],
    ['CONNACK: property twice', [0x20, 7, 0, 0, 4, 37, 1, 37, 1], 0x82, 'twice'],
    ['CONNACK: flag property 2', [0x20, 5, 0, 0, 2, 37, 2], 0x82, 'neither 0 nor 1'],
    ['CONNACK: property beyond its section', [0x20, 4, 0, 0, 1, 33], 0x81, 'shorter'],
    ['CONNACK: data without method', [0x20, 6, 0, 0, 3, 22, 0, 0], 0x82, 'without a method'],
    ['CONNACK: section length of 5 bytes', [0x20, 7, 0, 0, 255, 255, 255, 255, 1], 0x81, '1.5.5'],
    ['PUBLISH: QoS 3', [0x36, 5, 0, 1, 0x61, 0, 1, 0], 0x81, '3.3.1-4'],
    ['PUBLISH: DUP at QoS 0', [0x38, 4, 0, 1, 0x61, 0], 0x81, '3.3.1-2'],
    ['PUBLISH: packet id 0', [0x32, 6, 0, 1, 0x61, 0, 0, 0], 0x82, 'packet id 0'],
    ['PUBLISH: neither topic nor alias', [0x30, 3, 0, 0, 0], 0x82, '3.3.2-8'],
    ['PUBLISH: alias 0', [0x30, 6, 0, 0, 3, 35, 0, 0], 0x82, 'range'],
    ['PUBLISH: wildcard', [0x30, 4, 0, 1, 0x23, 0], 0x81, '3.3.2-2'],
    ['PUBLISH: topic that is not UTF-8', [0x30, 4, 0, 1, 0xff, 0], 0x81, '1.5.4-1'],
    ['PUBLISH: topic with NUL', [0x30, 4, 0, 1, 0, 0], 0x81, '1.5.4-2'],
    ['PUBLISH: response topic', [0x30, 8, 0, 1, 0x61, 4, 8, 0, 1, 0x23], 0x82, '3.3.2-14'],
    ['PUBLISH: identifier 0', [0x30, 6, 0, 1, 0x61, 2, 11, 0], 0x82, 'identifier 0'],
    ['PUBACK: flags', [0x41, 2, 0, 1], 0x81, '2.1.3-1'],
    ['PUBACK: unknown code', [0x40, 3, 0, 1, 0x55], 0x82, '2.4'],
    ['PUBREL: flags', [0x60, 2, 0, 1], 0x81, '2.1.3-1'],
    ['SUBSCRIBE: no filter', [0x82, 3, 0, 1, 0], 0x82, '3.8.3-2'],
    ['SUBSCRIBE: empty filter', [0x82, 6, 0, 1, 0, 0, 0, 0], 0x81, '4.7.3-1'],
    ['SUBSCRIBE: reserved bits', [0x82, 7, 0, 1, 0, 0, 1, 0x61, 0x40], 0x81, '3.8.3-5'],
    ['SUBSCRIBE: retain handling 3', [0x82, 7, 0, 1, 0, 0, 1, 0x61, 0x30], 0x82, '3.8.3.1'],
    ['SUBACK: no code', [0x90, 3, 0, 1, 0], 0x81, '3.9.3'],
    ['SUBACK: unknown code', [0x90, 4, 0, 1, 0, 3], 0x82, '3.9.3-2'],
    ['UNSUBSCRIBE: no filter', [0xa2, 3, 0, 1, 0], 0x82, '3.8.3-2'],
    ['PINGREQ with a body', [0xc0, 1, 0], 0x81, 'longer'],
    ['AUTH: unknown code', [0xf0, 1, 0x55], 0x82, '2.4'],
  ])('%s', (_name, bytes, reasonCode, clause) => {
    const given = [...bytes];
    given[1] = given.length - 2;
    let error: unknown = null;
    try {
      decode(given, '5');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PacketError);
    expect(error).toMatchObject({ reasonCode });
    expect((error as PacketError).message).toContain(clause);
  });

  test('a failure that belongs to other packets is let through, for it to be named', () => {
    expect(decode([0x40, 3, 0, 1, 0x96], '5')).toMatchObject({ reasonCode: 0x96 });
  });
});

describe('packets that break a rule of MQTT 3', () => {
  test.each<[string, ProtocolVersion, number[], string]>([
    ['AUTH', '3.1.1', [0xf0, 0], '2.2.1'],
    ['a password without user name', '3.1.1', [0x10, 8, ...CONNECT_4, 0x40], '3.1.2-22'],
    ['reserved bits in SUBSCRIBE', '3.1.1', [0x82, 6, 0, 1, 0, 1, 0x61, 4], '3.8.3-4'],
    ['flags of SUBSCRIBE', '3.1.1', [0x8a, 6, 0, 1, 0, 1, 0x61, 0], '2.1.3-1'],
    ['a long PUBACK', '3.1.1', [0x40, 3, 0, 1, 0], 'longer'],
    ['a long DISCONNECT', '3.1', [0xe0, 1, 0], 'longer'],
    ['a reserved return code', '3.1', [0x20, 2, 0, 6], '3.2.2.3'],
  ])('%s', (_name, version, bytes, clause) => {
    expect(() => decode(bytes, version)).toThrow(PacketError);
    expect(() => decode(bytes, version)).toThrow(clause);
  });

  test('MQTT 3.1 sends packets again with DUP, and says nothing of a present session', () => {
    expect(decode([0x8a, 6, 0, 1, 0, 1, 0x61, 1], '3.1')).toMatchObject({ type: 'subscribe' });
    expect(decode([0x6a, 2, 0, 1], '3.1')).toMatchObject({ type: 'pubrel', packetId: 1 });
    expect(decode([0x20, 2, 1, 0], '3.1')).toMatchObject({ sessionPresent: false });
  });
});

describe('packets that cannot be written', () => {
  const connect = { type: 'connect', clientId: 'c', cleanStart: true, keepAliveS: 0 } as const;
  const publish = {
    type: 'publish',
    topic: 't',
    payload: new Uint8Array(0),
    qos: 1,
    dup: false,
    retain: false,
    packetId: 1,
  } as const;

  test.each<[string, ProtocolVersion, Packet]>([
    ['NUL', '5', { ...connect, version: '5', clientId: 'a\0b' }],
    ['surrogate', '5', { ...connect, version: '5', clientId: '\ud800' }],
    ['65,535 bytes', '5', { ...connect, version: '5', clientId: 'x'.repeat(65_536) }],
    ['empty client id', '3.1', { ...connect, version: '3.1', clientId: '' }],
    ['clean start', '3.1.1', { ...connect, version: '3.1.1', clientId: '', cleanStart: false }],
    ['user name', '3.1.1', { ...connect, version: '3.1.1', password: Buffer.from('p') }],
    [
      'receiveMaximum is at least 1',
      '5',
      {
        ...connect,
        version: '5',
        properties: { receiveMaximum: 0 },
      },
    ],
    [
      'carries no property topicAlias',
      '5',
      {
        ...connect,
        version: '5',
        properties: { topicAlias: 1 },
      },
    ],
    ['packet id', '5', { ...publish, packetId: 0 }],
    ['not empty', '3.1.1', { ...publish, topic: '' }],
    ['no "#"', '5', { ...publish, topic: 'a/#' }],
    ['wildcard', '5', { ...publish, properties: { responseTopic: 'a/+' } }],
    ['has a filter', '5', { type: 'subscribe', packetId: 1, subscriptions: [] }],
    ['has a filter', '5', { type: 'unsubscribe', packetId: 1, filters: [] }],
    [
      'need MQTT 5',
      '3.1.1',
      {
        type: 'subscribe',
        packetId: 1,
        subscriptions: [{ filter: 'a', qos: 0, noLocal: true }],
      },
    ],
    [
      'shared',
      '5',
      {
        type: 'subscribe',
        packetId: 1,
        subscriptions: [{ filter: '$share/g/a', qos: 0, noLocal: true }],
      },
    ],
    [
      'one subscription identifier',
      '5',
      {
        type: 'subscribe',
        packetId: 1,
        subscriptions: [{ filter: 'a', qos: 0 }],
        properties: { subscriptionIdentifiers: [1, 2] },
      },
    ],
    ['needs MQTT 5', '3.1.1', { type: 'auth', reasonCode: 0 }],
  ])('%s', (words, version, packet) => {
    expect(() => encodePacket(packet, version)).toThrow(RangeError);
    expect(() => encodePacket(packet, version)).toThrow(words);
  });
});
