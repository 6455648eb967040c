import type { Group, Plan, PublishStream, Stage, SubscribeEntry } from '@squall/core/plan';
import { checkLedger, checkThreshold, parseThreshold } from '@squall/core/thresholds';
import { describe, expect, it } from 'vitest';

const stream: PublishStream = {
  name: 'telemetry',
  subject: 'devices.telemetry',
  topic: 't/{{n}}',
  qos: 1,
  retain: false,
  payload: { kind: 'size', bytes: 200, fill: 'repeat' },
  pace: { kind: 'every', everyUs: 1_000_000 },
  arrivals: 'even',
  phase: 'even',
  inflight: 32,
  ackTimeoutUs: 30_000_000,
  count: null,
  verify: true,
  expiryS: null,
  topicAlias: null,
  properties: null,
  request: null,
};

const group: Group = {
  name: 'devices',
  target: 'broker',
  clients: 10,
  clientId: '{{n}}',
  username: null,
  password: null,
  from: null,
  sourceAddresses: [],
  respond: [],
  connect: {
    ratePerS: 1000,
    keepAliveS: 60,
    cleanStart: true,
    timeoutUs: 10_000_000,
    retries: 3,
    backoffMinUs: 1_000_000,
    backoffMaxUs: 8_000_000,
    sessionExpiryS: null,
    will: null,
    properties: null,
    auth: null,
  },
  publish: [
    stream,
    { ...stream, name: 'flood', subject: 'devices.flood', pace: { kind: 'max' }, inflight: 1 },
    { ...stream, name: 'quick', subject: 'devices.quick', qos: 0 },
  ],
  subscribe: [],
};

function stage(name: string, index: number, streams: readonly number[], warmup = false): Stage {
  return {
    name,
    index,
    warmup,
    run: [
      {
        group: 0,
        activities: streams.map((at) => ({
          kind: 'publish',
          stream: at,
          pace: group.publish[at]?.pace ?? stream.pace,
          inflight: 32,
        })),
      },
    ],
    forUs: 10_000_000,
    until: null,
    deadlineUs: 60_000_000,
    onIncomplete: 'continue',
  };
}

const plan: Pick<Plan, 'groups' | 'stages'> = {
  groups: [group],
  stages: [stage('warm', 0, [1], true), stage('paced', 1, [0]), stage('fast', 2, [2])],
};

function errors(text: string) {
  return checkThreshold(parseThreshold(text), plan);
}

describe('the check of a threshold against its plan', () => {
  it.each([
    'publish_time: p(99) < 500ms over 10s for 3 in paced, abort after 30s',
    'publish_time{stream=telemetry}: p(99) < 500ms',
    'publish_time{stream=devices.telemetry}: p(99) < 500ms',
    'publish_time: max < 1s',
    'service_time: p(99) < 500ms in warm',
    'connect_failed{reason=~"not.*"}: share < 0.1%',
    'connect_failed{group!=other}: count == 0',
    'sent{qos=1}: rate > 5/s',
    'bytes_sent: rate > 10MB/s and rate < 1GB/s',
    'bytes_sent: count >= 0B',
    'connections: min >= 10 over 5s in paced',
    'connections: delta == -3',
  ])('finds nothing wrong with %s', (text) => {
    expect(errors(text)).toEqual([]);
  });

  it.each([
    ['publsh_time: p(99) < 1s', 1, 'publish_time'],
    ['rows: value > 1', 1, ''],
    ['sent: p(99) < 1', 7, 'count'],
    ['sent: value > 1', 7, 'count'],
    ['publish_time: count > 1', 15, 'p(99)'],
    ['publish_time: rate > 1/s', 15, 'p(99)'],
    ['connections: count > 1', 14, 'value'],
    ['sent: share > 1%', 7, 'publish_failed'],
    ['publish_time{stage=paced}: p(99) < 500', 36, '500ms'],
    ['publish_time{stage=paced}: p(99) < 0', 36, '500ms'],
    ['sent: rate > 500', 14, '28k/s'],
    ['sent: rate > 5MB/s', 14, '28k/s'],
    ['bytes_sent: rate > 5/s', 20, '10MB/s'],
    ['bytes_sent: count > 5', 21, '100GB'],
    ['sent: count > 5s', 15, '100k'],
    ['dropped: share < 1', 18, '0.1%'],
    ['sent{agent=a}: count > 0', 6, 'group'],
    ['sent{grp=a}: count > 0', 6, 'group'],
    ['sent{group=device}: count > 0', 6, 'devices'],
    ['sent{stream=~"x.*"}: count > 0', 6, 'telemetry'],
    ['sent{qos=3}: count > 0', 6, '0, 1, 2'],
    ['sent{reason=x}: count > 0', 6, ''],
    ['sent: count > 0 in pased', 20, 'paced'],
    ['lost: count == 0 over 10s', 18, 'leave out'],
    ['corrupted: count == 0 over 10s abort', 23, 'leave out'],
    ['sent: count > 0 over 500ms', 17, 'over 10s'],
    ['sent: count > 0 over 1500ms', 17, 'over 10s'],
    ['publish_time: p(99) < 1s in warm', 1, 'service_time'],
    ['publish_time{stage=warm}: p(99) < 1s', 1, 'service_time'],
    ['publish_time: p(99) < 1s in fast', 1, 'delivery_time or wait_time'],
    ['publish_time{qos=0}: p(99) < 1s', 1, 'delivery_time or wait_time'],
    ['publish_time{stream=quick}: p(99) < 1s', 1, 'delivery_time or wait_time'],
  ])('says what is wrong with %s, and where', (text, column, hint) => {
    const [error] = errors(text);
    expect(error?.code).toBe('SQ_THRESHOLD');
    expect(error?.column, error?.message).toBe(column);
    expect(`${error?.message} ${error?.hint}`).toContain(hint);
  });

  it('finds every error of a line, not only the first', () => {
    expect(errors('sent{agent=a}: p(9) < 1s over 1500ms in nowhere')).toHaveLength(4);
  });
});

const LEDGER = ['lost', 'duplicated', 'reordered', 'corrupted', 'expected'];

describe('a threshold on the delivery ledger', () => {
  const entry: SubscribeEntry = {
    name: null,
    subject: 'readers',
    topics: ['t/#'],
    qos: 1,
    share: null,
    options: { noLocal: false, retainAsPublished: false, retainHandling: 0, identifier: null },
  };
  const readers: Group = { ...group, name: 'readers', publish: [], subscribe: [entry] };
  const check = (text: string, groups: readonly Group[] = [group, readers]) => {
    const parsed = parseThreshold(text);
    const context = { ...plan, groups };
    return [...checkThreshold(parsed, context), ...checkLedger(parsed, context)];
  };
  const wrong = (text: string, groups?: readonly Group[]) => check(text, groups)[0]?.message;
  const sends = (more: Partial<PublishStream>): Group[] => [
    { ...group, publish: [{ ...stream, ...more }] },
    readers,
  ];

  it.each([
    ...LEDGER.map((metric) => `${metric}: count == 0`),
    'lost: share < 0.1% in paced',
    'lost{group=readers,qos=1}: count == 0 warn',
    'duplicated: rate < 1/s',
  ])('finds nothing wrong with %s', (text) => {
    expect(check(text)).toEqual([]);
  });

  it.each(
    LEDGER.flatMap((metric) => [
      `${metric}: count == 0 over 10s`,
      `${metric}: count == 0 over 10s for 3, abort after 30s`,
    ]),
  )('refuses %s: it is known only after settle', (text) => {
    const [error] = check(text);
    expect(error?.code).toBe('SQ_THRESHOLD');
    expect(error?.message).toContain('known only after settle');
  });

  it('refuses what nobody can answer', () => {
    expect(wrong('lost: count == 0', [group])).toContain('nobody subscribes');
    expect(wrong('lost{group=devices}: count == 0')).toContain('no such subscription');
    expect(wrong('lost: count == 0', [readers])).toContain('nobody publishes');
    expect(wrong('lost: count == 0', sends({ verify: false }))).toContain(
      'every stream of the plan is outside the ledger (devices.telemetry: its messages carry no stamp (verify: off))',
    );
    expect(wrong('lost: count == 0', sends({ topic: 't/{{seq}}' }))).toContain(
      'its topic changes with every message',
    );
    const shared = { ...readers, subscribe: [{ ...entry, topics: ['$share/g/a/#'] }] };
    expect(wrong('lost: count == 0', [group, shared])).toBeUndefined();
  });
});
