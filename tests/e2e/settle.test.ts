import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import {
  connectionOf,
  count,
  deliver,
  type Delivery,
  type DeliveryNeeds,
  type Fault,
  LAST,
  MESSAGES,
  row,
  seqOf,
} from '../fixtures/deliveries.ts';

const [CLIENTS, WATCHERS] = [6, 2];
const EXPECTED = CLIENTS * WATCHERS * MESSAGES;
const USUAL = { from: 'devices', to: 'watchers', pairs: CLIENTS * WATCHERS, expected: EXPECTED };
const QUIET_S = 5;

const NEEDS: DeliveryNeeds = {
  publishers: { devices: { clients: CLIENTS } },
  subscribers: { watchers: { clients: WATCHERS, topic: 'devices/+/up' } },
  more: { settle: { quiet: `${QUIET_S}s`, max: '20s' }, drain: '1s' },
};

/** The last message of each publisher, at the second watcher. */
const lastOnes: Pick<Fault, 'way' | 'where'> = {
  way: 'toSubscriber',
  where: (packet) => seqOf(packet) === LAST && connectionOf('watchers', 2)(packet),
};

/** From the end of the load to the end of the run, s. */
function settleS({ report }: Delivery): number {
  const loadEnd = Date.parse(report.stages.at(-1)?.endedAt ?? '');
  return (Date.parse(report.run.endedAt) - loadEnd) / 1_000;
}

/** How long a run waits for what is on its way: until all of it is there, or as long as it is told to. */
describe.concurrent('the end of a run', { timeout: 90_000 }, () => {
  test('comes soon where everything has arrived', async ({ broker, workspace }) => {
    const delivery = await deliver({ broker, workspace }, NEEDS);
    expect(delivery.rows).toEqual([row(USUAL)]);
    expect(settleS(delivery), delivery.result.output).toBeLessThan(QUIET_S - 0.5);
    expect(delivery.report.groups['watchers']?.counters).toMatchObject({ arrived: EXPECTED });
    expect(delivery.result.code).toBe(0);
  });

  test('waits for a message that is held back, and not for silence after it', async ({
    broker,
    workspace,
  }) => {
    const faults: Fault[] = [{ ...lastOnes, kind: 'hold', ms: 3_000, most: 1 }];
    const delivery = await deliver({ broker, workspace }, NEEDS, { faults });
    expect(count(delivery, 0)).toBe(1);
    expect(delivery.rows).toEqual([row(USUAL)]);
    expect(settleS(delivery), delivery.result.output).toBeGreaterThan(3);
    expect(settleS(delivery)).toBeLessThan(3 + QUIET_S - 0.5);
    expect(delivery.result.code).toBe(0);
  });

  test('is not hastened by a duplicate beside a message that is missing', async ({
    broker,
    workspace,
  }) => {
    const faults: Fault[] = [
      { ...lastOnes, kind: 'drop', most: 1 },
      { ...lastOnes, kind: 'duplicate', most: 1 },
    ];
    const delivery = await deliver({ broker, workspace }, NEEDS, { faults });
    expect([count(delivery, 0), count(delivery, 1)]).toEqual([1, 1]);
    expect(delivery.rows).toEqual([row({ ...USUAL, lost: 1, duplicated: 1 })]);
    expect(settleS(delivery), delivery.result.output).toBeGreaterThan(QUIET_S - 0.1);
    expect(delivery.result.code).toBe(99);
  });
});
