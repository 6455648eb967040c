import type { Pace } from '@squall/core/plan';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';
import { VirtualRun } from './fixture/virtual-run.ts';

/** Things that go wrong, or right again, while a load runs. */
const event = fc.oneof(
  fc.record({ kind: fc.constant('break' as const), slot: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('drain' as const), slot: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('stall' as const), us: fc.integer({ min: 5e3, max: 900e3 }) }),
  fc.record({
    kind: fc.constant('acks' as const),
    us: fc.constantFrom(200, 40e3, 600e3, Number.POSITIVE_INFINITY),
  }),
  fc.record({ kind: fc.constant('refuse' as const), yes: fc.boolean() }),
  fc.record({ kind: fc.constant('stuck' as const), slot: fc.nat({ max: 3 }) }),
);
const pace: fc.Arbitrary<Pace> = fc.constantFrom(
  { kind: 'every', everyUs: 30e3 },
  { kind: 'rate', perS: 77.7 },
  { kind: 'max' },
);

function happen(run: VirtualRun, what: typeof event extends fc.Arbitrary<infer T> ? T : never) {
  switch (what.kind) {
    case 'break':
      run.clients[0]?.break(what.slot);
      break;
    case 'drain':
      if (run.clients[0]?.isConnected(what.slot)) run.clients[0].drain(what.slot);
      break;
    case 'stall':
      run.stall(what.us);
      break;
    case 'acks':
      run.broker.ackUs = what.us;
      break;
    case 'refuse':
      run.broker.refuse = what.yes ? () => 'server unavailable (0x03)' : null;
      break;
    case 'stuck':
      run.broker.takes = what.slot === 3 ? null : (slot) => slot !== what.slot;
      break;
  }
}

describe('whatever happens, the books add up', { timeout: 60_000 }, () => {
  test.each([0, 1] as const)('at QoS %d, in every stage', (qos) => {
    fc.assert(
      fc.property(
        fc.record({
          pace,
          count: fc.option(fc.integer({ min: 1, max: 200 })),
          inflight: fc.integer({ min: 1, max: 4 }),
          cleanStart: fc.boolean(),
          ackTimeoutUs: fc.constantFrom(300e3, 30e6),
          backlogUs: fc.constantFrom(100e3, 700e3, 5e6),
          drainUs: fc.constantFrom(100e3, 2e6),
          events: fc.array(fc.record({ afterUs: fc.integer({ min: 0, max: 400e3 }), event }), {
            maxLength: 14,
          }),
          end: fc.constantFrom('settled', 'early', 'hard', 'graceful'),
        }),
        (given) => {
          const { inflight, ackTimeoutUs } = given;
          // A closed loop without acknowledgements has no pace at all: it gets an end.
          const endless = given.pace.kind === 'max' && qos === 0;
          const count = given.count ?? (endless ? 300 : null);
          const stream = { qos, pace: given.pace, count, inflight, ackTimeoutUs };
          const group = groupOf({
            clients: 3,
            connect: { ...groupOf().connect, cleanStart: given.cleanStart, retries: 1 },
            publish: [streamOf(stream)],
          });
          const work = [{ group: 0, activities: [publishing(group)] }];
          const plan = planOf({
            groups: [group],
            backlogUs: given.backlogUs,
            drainUs: given.drainUs,
            stages: [
              { run: work, forUs: 1e6 },
              { run: work, forUs: 1e6 },
            ],
          });
          const run = new VirtualRun(plan);
          run.advance(0, 0);
          run.runTo(0.1e6);
          run.clock(0, 0.1e6);
          let us = 0.1e6;
          for (const { afterUs, event: what } of given.events) {
            us = Math.max(us + afterUs, run.nowUs - run.startUs);
            run.runTo(us);
            happen(run, what);
          }
          if (given.end === 'settled') run.runTo(us + 9e6);
          if (given.end === 'hard' || given.end === 'graceful') run.load.engine.stop(given.end);
          run.load.engine.finish();
          for (const stage of [0, 1]) {
            expect(run.books.imbalances('devices', { qos, stage })).toEqual([]);
            expect(run.books.gauge('inflight', 'devices', stage)).toBe(0);
            expect(run.books.gauge('backlog', 'devices', stage)).toBe(0);
            // What the ledger takes as delivered to the broker is just what the books call so.
            const { handed, unresolved } = run.handedOver(stage);
            expect(handed - unresolved).toBe(run.books.counter('published', 'devices', stage));
            expect(handed).toBe(run.stampedMessages(stage));
          }
          const attempts = run.books.counter('connect_attempts', 'devices');
          const failed = run.books.counter('connect_failed', 'devices');
          const connected = run.books.counter('connected', 'devices');
          expect(attempts - failed - connected).toBeGreaterThanOrEqual(0);
          expect(attempts - failed - connected).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: 200 },
    );
  });
});
