import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import {
  connectionOf,
  count,
  deliver,
  type Fault,
  LAST,
  type LedgerFigures,
  MESSAGES,
  notLast,
  only,
  row,
  sentBy,
  seqOf,
} from '../fixtures/deliveries.ts';

/**
 * Each kind of fault befalls the messages of a group of its own, so that the ledger's row of that
 * group must show this kind, in its exact number, and nothing else.
 */
const PUBLISHERS = 4;
const WATCHERS = 3;
const PAIRS = PUBLISHERS * WATCHERS;
const SENT = PUBLISHERS * MESSAGES;
const EXPECTED = SENT * WATCHERS;
const EVER = Number.POSITIVE_INFINITY;

interface Kind {
  /** What befalls them. */
  readonly fault?: Fault;
  /** What of the group's packets is befallen; all unless said. */
  readonly where?: Fault['where'];
  /** What the row says besides the usual, by how often the fault came about. */
  readonly says: (times: number, overtaken: number) => Partial<LedgerFigures>;
}

const lost = (n: number) => ({ lost: n });
const twice = (n: number) => ({ duplicated: n });
const late = (n: number) => ({ reordered: n });
const harmed = (n: number) => ({ corrupted: n, lost: n });
const nothing = () => ({});

/** What befell a message before the broker shows at every watcher. */
const atAll = (one: (n: number) => Partial<LedgerFigures>) => (n: number) => one(n * WATCHERS);

/** What the broker never got was not acknowledged at QoS 1, so nobody can expect it. */
const never = (qos: 0 | 1) => (n: number) =>
  qos === 0 ? lost(n) : { expected: EXPECTED - n, unresolved: n };

const unacknowledged = (n: number) => ({
  expected: EXPECTED - n,
  unresolved: n,
  unresolvedArrived: n,
});

const kinds = (qos: 0 | 1): Readonly<Record<string, Kind>> => ({
  none: { says: nothing },

  dropped: { fault: { way: 'toSubscriber', kind: 'drop', every: 7 }, says: lost },
  duplicated: { fault: { way: 'toSubscriber', kind: 'duplicate', every: 5 }, says: twice },
  swapped: {
    fault: { way: 'toSubscriber', kind: 'swap', every: 6 },
    where: notLast,
    says: late,
  },
  corrupted: {
    fault: { way: 'toSubscriber', kind: 'corrupt', at: -1, every: 9 },
    says: harmed,
  },
  held: {
    fault: { way: 'toSubscriber', kind: 'hold', ms: 40, every: 4 },
    says: (_, overtaken) => late(overtaken),
  },
  'held-long': {
    fault: { way: 'toSubscriber', kind: 'hold', ms: 700, every: 11 },
    where: (packet) => seqOf(packet) < LAST - 4,
    says: (_, overtaken) => late(overtaken),
  },
  'held-for-ever': {
    fault: { way: 'toSubscriber', kind: 'hold', ms: EVER, every: 11 },
    says: lost,
  },
  first: {
    fault: { way: 'toSubscriber', kind: 'drop' },
    where: (packet) => seqOf(packet) === 0,
    says: () => ({ lost: PAIRS }),
  },
  last: {
    fault: { way: 'toSubscriber', kind: 'drop' },
    where: (packet) => seqOf(packet) === LAST,
    says: () => ({ lost: PAIRS }),
  },
  'last-of-one': {
    fault: { way: 'toSubscriber', kind: 'drop', ...only(1) },
    where: (packet) => seqOf(packet) === LAST,
    says: () => ({ lost: 1 }),
  },
  'last-corrupted': {
    fault: { way: 'toSubscriber', kind: 'corrupt', at: 60, ...only(2) },
    where: (packet) => seqOf(packet) === LAST,
    says: () => ({ lost: 1, corrupted: 1 }),
  },
  silenced: {
    fault: { way: 'toSubscriber', kind: 'drop' },
    where: (packet) => packet.stamp?.publisher === 2 && connectionOf('watchers', 1)(packet),
    says: () => ({ lost: MESSAGES }),
  },

  unsent: { fault: { way: 'toBroker', kind: 'drop', every: 6 }, says: atAll(never(qos)) },
  'unsent-last': {
    fault: { way: 'toBroker', kind: 'drop' },
    where: (packet) => seqOf(packet) === LAST,
    says: atAll(never(qos)),
  },
  'sent-twice': {
    fault: { way: 'toBroker', kind: 'duplicate', every: 8 },
    says: atAll(twice),
  },
  'sent-swapped': {
    fault: { way: 'toBroker', kind: 'swap', every: 5 },
    where: notLast,
    says: atAll(late),
  },
  'sent-corrupted': {
    fault: { way: 'toBroker', kind: 'corrupt', at: -1, every: 7 },
    says: atAll(harmed),
  },

  'ack-dropped': {
    fault: { way: 'ackToPublisher', kind: 'drop', every: 9 },
    says: atAll(unacknowledged),
  },
  'ack-corrupted': {
    fault: { way: 'ackToPublisher', kind: 'corrupt', at: 0, bits: 0x40, every: 10 },
    says: atAll(unacknowledged),
  },
  'ack-for-ever': {
    fault: { way: 'ackToPublisher', kind: 'hold', ms: EVER, every: 13 },
    says: atAll(unacknowledged),
  },
  'ack-twice': {
    fault: { way: 'ackToPublisher', kind: 'duplicate', every: 3 },
    says: nothing,
  },
  'ack-late': {
    fault: { way: 'ackToPublisher', kind: 'hold', ms: 600, every: 3 },
    says: nothing,
  },
  'ack-swapped': {
    fault: { way: 'ackToPublisher', kind: 'swap', every: 4, most: 8 },
    says: nothing,
  },
});

describe.concurrent('each kind of fault, by itself', { timeout: 90_000 }, () => {
  test.for([[1], [0]] as const)(
    'at QoS %i is in its row with its exact number, and nothing else is in any',
    async ([qos], { broker, workspace }) => {
      const cases = Object.entries(kinds(qos)).filter(
        ([name]) => qos === 1 || !name.startsWith('ack-'),
      );
      const publishers = Object.fromEntries(
        cases.map(([name]) => [name, { clients: PUBLISHERS, qos }]),
      );
      const faults = cases.flatMap(([name, { fault, where }]) =>
        fault === undefined ? [] : [{ ...fault, where: whereOf(name, fault, where) }],
      );
      const subscribers = { watchers: { clients: WATCHERS, topic: '+/+/up' } };
      const delivery = await deliver(
        { broker, workspace },
        { publishers, subscribers },
        { faults },
      );
      let next = 0;
      const said = cases.map(([name, { fault, says }]) => {
        const k = fault === undefined ? -1 : next++;
        const times = k < 0 ? 0 : count(delivery, k);
        const base = { from: name, to: 'watchers', qos, pairs: PAIRS, expected: EXPECTED };
        return row({ ...base, ...says(times, delivery.injected[k]?.overtaken ?? 0) });
      });
      expect(delivery.rows).toEqual(said.toSorted((a, b) => (a.from < b.from ? -1 : 1)));
      expect(delivery.report.validity.state, delivery.result.output).toBe('valid');
      // What is lost at QoS 0 is no failure; what is corrupted always is.
      expect(delivery.report.reasons.join('\n')).toContain('corrupted');
      expect(delivery.report.reasons.join('\n').includes('lost')).toBe(qos === 1);
      expect(delivery.result.code).toBe(99);
    },
  );

  test('none: every row is clean, the run passes, the broker and the relay agree', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { sure: { clients: 10 }, fast: { clients: 10, qos: 0 } },
        subscribers: { watchers: { clients: 4, topic: '#' } },
      },
    );
    const base = { to: 'watchers', pairs: 40, expected: 40 * MESSAGES };
    expect(delivery.rows).toEqual([
      row({ from: 'fast', qos: 0, ...base }),
      row({ from: 'sure', qos: 1, ...base }),
    ]);
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
    expect(delivery.result.code).toBe(0);
    expect(delivery.came('toBroker')).toBe(20 * MESSAGES);
    expect(delivery.came('toSubscriber')).toBe(80 * MESSAGES);
    expect(delivery.came('ackToPublisher')).toBe(10 * MESSAGES);
  });
});

describe.concurrent('faults together', { timeout: 90_000 }, () => {
  test('all kinds on the same messages, of many publishers to subscribers on four agents', async ({
    broker,
    workspace,
  }) => {
    const where = notLast;
    const faults: Fault[] = [
      { way: 'toSubscriber', kind: 'drop', every: 31, where },
      { way: 'toSubscriber', kind: 'duplicate', every: 37, where },
      { way: 'toSubscriber', kind: 'swap', every: 41, where },
      { way: 'toSubscriber', kind: 'corrupt', at: 70, every: 43, where },
      { way: 'ackToPublisher', kind: 'duplicate', every: 17 },
      { way: 'ackToBroker', kind: 'drop', every: 19 },
      { way: 'ackToBroker', kind: 'duplicate', every: 23 },
    ];
    const [clients, watchers] = [40, 5];
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients } },
        subscribers: { watchers: { clients: watchers, topic: 'devices/+/up' } },
      },
      { faults, agents: 4 },
    );
    const [dropped, duplicated, swapped, corrupted] = [0, 1, 2, 3].map((k) => count(delivery, k));
    expect(delivery.rows).toEqual([
      row({
        from: 'devices',
        to: 'watchers',
        pairs: clients * watchers,
        expected: clients * watchers * MESSAGES,
        lost: (dropped ?? 0) + (corrupted ?? 0),
        ...(duplicated === undefined ? {} : { duplicated }),
        ...(corrupted === undefined ? {} : { corrupted }),
        ...(swapped === undefined ? {} : { reordered: swapped }),
      }),
    ]);
    expect(delivery.result.code, delivery.result.output).toBe(99);
  });

  test('bits flipped anywhere in a payload: found each time, and told whose it was where it says', async ({
    broker,
    workspace,
  }) => {
    const places: [at: number, bits: number, known: boolean][] = [
      [0, 0x01, true], // magic
      [2, 0x80, true], // version
      [3, 0x80, false], // stage
      [4, 0x01, false], // run
      [9, 0x40, false], // stream
      [10, 0x80, false], // publisher, beyond all
      [13, 0x01, true], // publisher, another one
      [17, 0x04, true], // number
      [18, 0x80, true], // due
      [33, 0x01, true], // sent
      [35, 0x01, true], // clock domain
      [39, 0x80, true], // checksum
      [40, 0x01, true], // the first byte behind the stamp
      [-1, 0x10, true], // the last
    ];
    const faults = places.map(
      ([at, bits], k): Fault => ({
        way: 'toSubscriber',
        kind: 'corrupt',
        at,
        bits,
        where: (packet) => seqOf(packet) === k % MESSAGES,
        most: 2,
      }),
    );
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: 4 } },
        subscribers: { watchers: { clients: 2, topic: 'devices/+/up' } },
      },
      { faults },
    );
    const harmedTimes = (which: boolean) =>
      places.reduce((sum, [, , known], k) => sum + (known === which ? count(delivery, k) : 0), 0);
    const [known, unknown] = [harmedTimes(true), harmedTimes(false)];
    expect(delivery.rows).toEqual([
      row({ from: '(unknown)', to: 'watchers', pairs: 0, expected: 0, corrupted: unknown }),
      row({
        from: 'devices',
        to: 'watchers',
        pairs: 8,
        expected: 8 * MESSAGES,
        corrupted: known,
        lost: known + unknown,
      }),
    ]);
    expect(delivery.result.code, delivery.result.output).toBe(99);
  });
});

/** A fault on PUBLISH packets goes by the topic, one on PUBACK packets by the connection. */
function whereOf(
  name: string,
  { way }: Fault,
  where: Fault['where'] = () => true,
): NonNullable<Fault['where']> {
  const isAck = way === 'ackToBroker' || way === 'ackToPublisher';
  const mine = isAck ? connectionOf(name) : sentBy(name);
  return (packet) => mine(packet) && where(packet);
}
