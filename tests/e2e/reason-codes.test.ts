import { reasonCodeName } from '@squall/mqtt/codec';
import type { Fault } from '@squall/mqtt/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atLastOf, type FaultyNeeds, faultyRun, MESSAGES, of } from '../fixtures/faulty-run.ts';
import { Fleet } from '../fixtures/fleet.ts';

/** Every reason code of MQTT 5 with which a broker refuses or ends something is counted by its name. */
let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start(5);
});
afterAll(() => fleet.close());

const VERSION_5: FaultyNeeds = { target: { version: '5' } };

describe.concurrent('reason codes', { timeout: 90_000 }, () => {
  test('of CONNACK, each device another', async () => {
    const codes = [
      0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8c, 0x90, 0x95, 0x97,
      0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9f,
    ];
    const { found } = await faultyRun(fleet, {
      ...VERSION_5,
      devices: codes.length,
      faults: codes.map(
        (reasonCode, k): Fault => ({
          way: 'connect',
          kind: 'refuse',
          reasonCode,
          ...of(`device-${k + 1}`),
        }),
      ),
    });
    expect(found).toEqual({
      ...each('devices connect_failed', codes),
      'devices dropped: not_connected': codes.length * MESSAGES,
    });
  });

  test.for([1, 2])('of the answer to a message at QoS %i, each device another', async (qos) => {
    const codes = [0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99];
    const { found } = await faultyRun(fleet, {
      ...VERSION_5,
      publish: { qos },
      subscribe: { qos },
      devices: codes.length,
      faults: codes.map(
        (reasonCode, k): Fault => ({
          way: 'toBroker',
          kind: 'refuse',
          reasonCode,
          ...atLastOf(`device-${k + 1}`),
        }),
      ),
    });
    expect(found).toEqual({
      ...each('devices publish_failed', codes),
      'ledger refused': codes.length,
      'ledger unresolved': codes.length,
    });
  });

  test('of SUBACK, each reader another', async () => {
    const codes = [0x80, 0x83, 0x87, 0x8f, 0x91, 0x97, 0x9e, 0xa1, 0xa2];
    const { found } = await faultyRun(fleet, {
      ...VERSION_5,
      reader: { clients: codes.length },
      faults: codes.map(
        (reasonCode, k): Fault => ({
          way: 'subscribe',
          kind: 'refuse',
          reasonCode,
          ...of(`reader-${k + 1}`),
        }),
      ),
    });
    expect(found).toEqual(each('readers subscribe_failed', codes));
  });

  test('of UNSUBACK, each reader another', async () => {
    const codes = [0x80, 0x83, 0x87, 0x8f, 0x91];
    const { found } = await faultyRun(fleet, {
      ...VERSION_5,
      reader: { clients: codes.length },
      stages: [
        { name: 'subscribe', run: { readers: 'subscribe' } },
        { name: 'unsubscribe', run: { readers: 'unsubscribe' } },
      ],
      faults: codes.map(
        (reasonCode, k): Fault => ({
          way: 'unsubscribe',
          kind: 'refuse',
          reasonCode,
          ...of(`reader-${k + 1}`),
        }),
      ),
    });
    expect(found).toEqual(each('readers unsubscribe_failed', codes));
  });

  test('of DISCONNECT, each device another', async () => {
    const codes = [
      0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8b, 0x8d, 0x8e, 0x8f, 0x90, 0x93, 0x94, 0x95, 0x96,
      0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2,
    ];
    const { found } = await faultyRun(fleet, {
      ...VERSION_5,
      devices: codes.length,
      faults: codes.map(
        (reasonCode, k): Fault => ({
          way: 'ackToPublisher',
          kind: 'send',
          more: [{ type: 'disconnect', reasonCode }],
          thenEnd: true,
          ...atLastOf(`device-${k + 1}`),
        }),
      ),
    });
    expect(found).toEqual(each('devices disconnected: disconnected by broker', codes));
  });
});

/** What is counted once for each of these codes. */
function each(counter: string, codes: readonly number[]): Record<string, number> {
  return Object.fromEntries(codes.map((code) => [`${counter}: ${reasonCodeName(code)}`, 1]));
}
