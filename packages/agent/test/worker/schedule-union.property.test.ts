import { split } from '@squall/core/partition';
import {
  dueUs,
  rankMultiplier,
  rankOf,
  scheduleOf,
  type Spacing,
  ticksBefore,
} from '@squall/core/schedule';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientOrder } from '../../src/worker/clients/client-order.ts';
import { HistogramPool } from '../../src/worker/measure/histogram-pool.ts';
import { Meter } from '../../src/worker/measure/meter.ts';
import {
  BACKPRESSURE,
  GONE,
  NOT_CONNECTED,
  OPEN,
  type Outlet,
  WINDOW_FULL,
} from '../../src/worker/publish/outlet.ts';
import { PacedSchedule } from '../../src/worker/publish/paced-schedule.ts';

/** Takes everything (or what `refusal` lets through) and notes client and due time. */
class NotingOutlet implements Outlet {
  readonly handed: { position: number; dueUs: number }[] = [];
  dropped = 0;
  refusals: (position: number) => number = () => OPEN;

  refusal(position: number): number {
    return this.refusals(position);
  }

  hand(position: number, due: Float64Array): boolean {
    this.handed.push({ position, dueUs: due[0] ?? 0 });
    return true;
  }

  drop(_position: number, _reason: string, n: number): void {
    this.dropped += n;
  }
}

function counterOf(meter: Meter, metric: string): number {
  const series = drained(meter);
  return series
    .filter((each) => each.metric === metric)
    .reduce((n, { value }) => n + (value ?? 0), 0);
}

const kept = new WeakMap<Meter, ReturnType<typeof drainedOnce>>();
function drainedOnce(meter: Meter) {
  const into: Parameters<Meter['drain']>[0] = [];
  meter.drain(into);
  return into;
}
function drained(meter: Meter) {
  const known = kept.get(meter) ?? drainedOnce(meter);
  kept.set(meter, known);
  return known;
}

const pace = fc.oneof(
  fc.record({
    kind: fc.constant('every' as const),
    everyUs: fc.integer({ min: 1_000, max: 3_000_000 }),
  }),
  fc.record({
    kind: fc.constant('rate' as const),
    perS: fc.double({ min: 0.3, max: 900, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant('ramp' as const),
    fromPerS: fc.double({ min: 0, max: 900, noNaN: true }),
    toPerS: fc.double({ min: 0, max: 900, noNaN: true }),
    overUs: fc.integer({ min: 1_000, max: 3_000_000 }),
  }),
  fc.record({
    kind: fc.constant('spike' as const),
    basePerS: fc.double({ min: 0.3, max: 90, noNaN: true }),
    peakPerS: fc.double({ min: 0.3, max: 900, noNaN: true }),
    atUs: fc.integer({ min: 0, max: 1_000_000 }),
    forUs: fc.integer({ min: 1_000, max: 1_000_000 }),
  }),
);

const spacing: fc.Arbitrary<Spacing> = fc.oneof(
  fc.constant({ kind: 'even' as const }),
  fc.record({ kind: fc.constantFrom('poisson' as const, 'random' as const), seed: fc.nat() }),
);

describe('the schedules of all workers together', { timeout: 60_000 }, () => {
  test('are the whole schedule: every due index once, at its time, by its client', () => {
    fc.assert(
      fc.property(
        fc.record({
          clients: fc.integer({ min: 1, max: 60 }),
          agents: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 }),
          pace,
          spacing,
          lengthUs: fc.integer({ min: 1, max: 2_000_000 }),
          count: fc.option(fc.integer({ min: 0, max: 500 })),
          steps: fc.array(fc.integer({ min: 1, max: 900_000 }), { maxLength: 20 }),
          clockUs: fc.double({ min: 0, max: 1e12, noNaN: true }),
        }),
        (given) => {
          const schedule = scheduleOf(given.pace, given.clients, given.spacing);
          const weights = given.agents.map((workers, k) => ({ agent: `a${k}`, workers }));
          const shares = split([given.clients], weights).flatMap(({ workers }) => workers);
          const all: { client: number; dueUs: number }[] = [];
          let planned = 0;
          for (const share of shares) {
            const range = share.groups[0];
            if (range === undefined) throw new Error('no range');
            const order = clientOrder(range, given.clients);
            const outlet = new NotingOutlet();
            const moment = new Float64Array([given.clockUs]);
            const meter = new Meter(
              { kind: 'publish', subject: 's', stage: 0, qos: 1 },
              new HistogramPool(),
              moment,
            );
            const feed = new PacedSchedule({
              order,
              schedule,
              clockUs: given.clockUs,
              count: given.count,
              backlogUs: 1e9,
              moment,
              meter,
              outlet,
            });
            feed.endAfter(given.lengthUs);
            for (const step of given.steps) {
              moment[0] = (moment[0] ?? 0) + step;
              feed.pick(moment[0] ?? 0);
            }
            moment[0] = given.clockUs + given.lengthUs + 1;
            feed.pick(moment[0] ?? 0);
            expect(feed.exhausted).toBe(true);
            planned += counterOf(meter, 'planned');
            expect(counterOf(meter, 'scheduled')).toBe(outlet.handed.length);
            for (const each of outlet.handed) {
              all.push({ client: order.numbers[each.position] ?? -1, dueUs: each.dueUs });
            }
          }
          const ticks = Math.min(
            ticksBefore(schedule, given.lengthUs),
            given.count ?? Number.POSITIVE_INFINITY,
          );
          expect(planned).toBe(ticks);
          const multiplier = rankMultiplier(given.clients);
          const clientOfRank = new Map<number, number>();
          for (let n = 0; n < given.clients; n++) {
            clientOfRank.set(rankOf(n, given.clients, multiplier), n);
          }
          const whole = Array.from({ length: ticks }, (_, tick) => ({
            client: clientOfRank.get(tick % given.clients),
            dueUs: given.clockUs + dueUs(schedule, tick),
          }));
          const dues = all.map((each) => each.dueUs).toSorted((a, b) => a - b);
          expect(dues).toEqual(whole.map((each) => each.dueUs));
          expect(new Set(all.map((e) => `${e.client}@${e.dueUs}`))).toEqual(
            new Set(whole.map((e) => `${e.client}@${e.dueUs}`)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test('lose nothing and count nothing twice, whatever keeps the clients from sending', () => {
    const refusal = fc.constantFrom(OPEN, NOT_CONNECTED, GONE, WINDOW_FULL, BACKPRESSURE);
    const step = fc.record({
      us: fc.integer({ min: 100, max: 400_000 }),
      position: fc.nat({ max: 7 }),
      refusal,
      pump: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 80 }),
        fc.integer({ min: 1_000, max: 900_000 }),
        (steps, backlogUs) => {
          const order = clientOrder({ first: 3, last: 10, clients: 8 }, 40);
          const outlet = new NotingOutlet();
          const states = Array.from({ length: 8 }, (): number => OPEN);
          outlet.refusals = (position) => states[position] ?? OPEN;
          const moment = new Float64Array(1);
          const meter = new Meter(
            { kind: 'publish', subject: 's', stage: 0, qos: 1 },
            new HistogramPool(),
            moment,
          );
          const feed = new PacedSchedule({
            order,
            schedule: { clients: 40, periodUs: 200_000, times: null },
            clockUs: 0,
            count: null,
            backlogUs,
            moment,
            meter,
            outlet,
          });
          for (const each of steps) {
            moment[0] = (moment[0] ?? 0) + each.us;
            feed.pick(moment[0] ?? 0);
            feed.expire();
            states[each.position] = each.refusal;
            if (each.refusal === GONE) feed.giveUp(each.position);
            if (each.pump) feed.pump(each.position);
          }
          const waiting = feed.waiting;
          feed.endAfter(moment[0] ?? 0);
          expect(feed.exhausted).toBe(true);
          if (steps.length % 2 === 0) feed.dropWaiting();
          const left = feed.abandon();
          expect(left).toBe(steps.length % 2 === 0 ? 0 : waiting);
          expect(feed.waiting).toBe(0);
          const scheduled = counterOf(meter, 'scheduled');
          expect(counterOf(meter, 'planned')).toBe(scheduled);
          expect(outlet.handed.length + outlet.dropped + left).toBe(scheduled);
          for (let position = 0; position < 8; position++) {
            const dues = outlet.handed.filter((e) => e.position === position).map((e) => e.dueUs);
            expect(dues).toEqual(dues.toSorted((a, b) => a - b));
            expect(new Set(dues).size).toBe(dues.length);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
