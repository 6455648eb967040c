import { describe, expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';
import { accepted, complaints, planOf } from './plan-fixture.ts';

const one = (clientId: string, more: object = {}) => planOf({}, { clientId, ...more });

describe('client ids of a group', () => {
  test.each([
    'device-{{n}}',
    '{{n:08}}',
    '{{n + 1000}}',
    '{{n - 7}}',
    '{{block.n}}',
    '{{n % 100}}',
    '{{n % 101}}',
    '{{n % 10}}-{{n % 13}}',
    '{{uuid}}',
    'x{{random 1 9}}-{{n}}',
    '{{env.PREFIX}}-{{n}}',
    '',
  ])('%s is different for each', (clientId) => {
    expect(accepted(one(clientId)).groups[0]?.clientId).toBe(clientId);
  });

  test.each([
    ['device', 'client 2 and one before it have the same client id "device"'],
    ['{{run}}-{{group}}', 'client 2 and one before it have the same client id'],
    ['d{{n % 99}}', 'client 100 and one before it have the same client id "d1"'],
    ['{{n % 10}}-{{n % 5}}', 'client 11 and one before it have the same client id "1-1"'],
    ['d{{random 1 1000000}}', 'client 2 and one before it could have the same client id'],
    ['{{n}}{{n % 10}}', null],
  ])('%s', (clientId, fault) => {
    const found = fault === null ? [] : [`groups.devices.clientId: ${fault}`];
    const faults = fault === null ? [] : complaints(one(clientId));
    expect(faults).toEqual(found.map((text) => expect.stringContaining(text)));
  });

  test('a group of one may have any', () => {
    expect(accepted(one('device', { clients: 1 })).groups[0]?.clientId).toBe('device');
  });

  test('very large groups are judged by their template', () => {
    expect(accepted(one('d{{n}}', { clients: '20M' })).groups[0]?.clients).toBe(20_000_000);
    expect(complaints(one('d{{n % 1000}}', { clients: '20M' }))).toHaveLength(1);
    expect(complaints(one('d', { clients: '20M' }))).toHaveLength(1);
  });
});

const two = (ids: readonly [string, string], targets: readonly [string, string]) =>
  planOf({
    targets: {
      a: { protocol: 'mqtt', urls: ['mqtt://one'] },
      b: { protocol: 'mqtt', urls: ['mqtt://two'] },
      same: { protocol: 'mqtt', urls: ['mqtt://one:1883'] },
    },
    groups: {
      left: { target: targets[0], clients: 10, clientId: ids[0], connect: {} },
      right: { target: targets[1], clients: 10, clientId: ids[1], connect: {} },
    },
    stages: [{ name: 'up', run: { left: 'connect', right: 'connect' } }],
  });

describe('client ids of groups that meet on a broker', () => {
  test('the same template in two groups of a target collides', () => {
    expect(complaints(two(['d{{n}}', 'd{{n}}'], ['a', 'a']))).toEqual([
      'groups.right.clientId: client 1 and one of the group left have the same client id "d1"',
    ]);
  });

  test('so it does in two targets with one address', () => {
    expect(complaints(two(['d{{n}}', 'd{{n + 9}}'], ['a', 'same']))).toEqual([
      'groups.right.clientId: client 1 and one of the group left have the same client id "d10"',
    ]);
  });

  test.each([
    [
      ['d{{n}}', 'd{{n}}'],
      ['a', 'b'],
    ],
    [
      ['{{group}}-{{n}}', '{{group}}-{{n}}'],
      ['a', 'a'],
    ],
    [
      ['d{{n}}', 'd{{n + 10}}'],
      ['a', 'a'],
    ],
  ] as const)('%j on %j do not', (ids, targets) => {
    expect(accepted(two(ids, targets)).groups).toHaveLength(2);
  });
});

const kept = (clientId: string) => one(clientId, { connect: { cleanStart: false } });

test('a kept session needs a client id that stays the same', () => {
  expect(complaints(kept('{{uuid}}'))).toEqual([
    'groups.devices.clientId: cleanStart: false needs client ids that stay the same',
  ]);
  expect(complaints(kept(''))).toEqual([
    'groups.devices.clientId: cleanStart: false needs a client id [MQTT-3.1.3-7]',
  ]);
  expect(accepted(kept('d{{n}}')).groups[0]?.connect.cleanStart).toBe(false);
});

const long = (version: string, clientId: string) =>
  planOf({ targets: { broker: { protocol: 'mqtt', urls: ['mqtt://h'], version } } }, { clientId });

describe('client ids of MQTT 3.1', () => {
  test.each([
    ['3.1', 'd'.repeat(20) + '{{n}}', 0],
    ['3.1', 'd'.repeat(21) + '{{n}}', 1],
    ['3.1', 'é'.repeat(11) + '{{n}}', 1],
    ['3.1', 'x{{n:024}}', 1],
    ['3.1', '{{uuid}}', 1],
    ['3.1.1', '{{uuid}}', 0],
    ['5', '{{uuid}}', 0],
  ])('%s, "%s": %i warnings of more than 23 bytes', (version, clientId, warnings) => {
    const read = readPlan(JSON.stringify(long(version, clientId)));
    expect(read.ok).toBe(true);
    const texts = read.ok ? read.warnings.map(({ message }) => message) : [];
    expect(texts.filter((text) => text.includes('more than 23'))).toHaveLength(warnings);
  });
});
