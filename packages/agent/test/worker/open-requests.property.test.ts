import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HistogramPool } from '../../src/worker/measure/histogram-pool.ts';
import { Meter } from '../../src/worker/measure/meter.ts';
import { OpenRequests } from '../../src/worker/requests/open-requests.ts';

function requestsOf(parts: { clients: number; window: number; timeoutUs?: number }) {
  const moment = new Float64Array(1);
  const key = { kind: 'publish', subject: 'app', stage: 0, qos: 1 } as const;
  const meter = new Meter(key, new HistogramPool(), moment);
  const failures: { position: number; reason: string }[] = [];
  const requests = new OpenRequests({
    timeoutUs: 1_000,
    ...parts,
    meter,
    moment,
    failed: (position, reason) => failures.push({ position, reason }),
  });
  const counters = () => {
    const series: Parameters<Meter['drain']>[0] = [];
    meter.drain(series);
    const value = (name: string) => series.find(({ metric }) => metric === name)?.value ?? 0;
    return {
      responses: value('responses'),
      late: value('late_responses'),
      stray: value('stray_responses'),
      times: series.find(({ metric }) => metric === 'response_time')?.histogram,
    };
  };
  return { requests, moment, failures, counters };
}

const due = (us: number) => new Float64Array([us]);

describe('open requests', () => {
  test('time an answer from when the request was due', () => {
    const { requests, moment, counters } = requestsOf({ clients: 2, window: 4 });
    moment[0] = 500;
    requests.open(1, 0, due(300));
    moment[0] = 900;
    expect(requests.answered(1, 0)).toBe(true);
    expect(requests.total).toBe(0);
    const { responses, times } = counters();
    expect(responses).toBe(1);
    expect(times).toMatchObject({ minUs: 600, maxUs: 600 });
  });

  test('fail in their time-out, tell who has room again, and call what still comes late', () => {
    const { requests, moment, failures, counters } = requestsOf({ clients: 2, window: 1 });
    requests.open(0, 0, due(0));
    expect(requests.hasRoom(0, 1)).toBe(false);
    expect(requests.hasRoom(1, 0)).toBe(true);
    moment[0] = 1_000;
    const freed: number[] = [];
    requests.expire((position) => freed.push(position));
    expect(freed).toEqual([]);
    moment[0] = 1_001;
    requests.expire((position) => freed.push(position));
    expect(freed).toEqual([0]);
    expect(failures).toEqual([{ position: 0, reason: 'no answer within the time-out' }]);
    expect(requests.hasRoom(0, 1)).toBe(true);
    expect(requests.answered(0, 0)).toBe(false);
    expect(requests.answered(0, 0)).toBe(false);
    expect(counters()).toMatchObject({ responses: 0, late: 1, stray: 1 });
  });

  test('judge an answer by its time, not by when somebody looked', () => {
    const { requests, moment, failures, counters } = requestsOf({ clients: 1, window: 1 });
    requests.open(0, 0, due(0));
    moment[0] = 5_000;
    expect(requests.answered(0, 0)).toBe(true);
    requests.expire(() => undefined);
    expect(failures).toHaveLength(1);
    expect(counters()).toMatchObject({ responses: 0, late: 1, stray: 0 });
  });

  test('are given up at the end of the drain', () => {
    const { requests, failures } = requestsOf({ clients: 3, window: 2 });
    for (const position of [0, 1, 2]) requests.open(position, 0, due(0));
    requests.answered(1, 0);
    requests.giveUp();
    expect(requests.total).toBe(0);
    expect(failures.map(({ position }) => position)).toEqual([0, 2]);
  });

  test('balance: each is answered or failed once, and no client has more than its window', () => {
    const step = fc.record({
      position: fc.nat({ max: 3 }),
      kind: fc.constantFrom('ask', 'ask', 'answer', 'wait'),
      back: fc.nat({ max: 9 }),
      us: fc.integer({ min: 1, max: 600 }),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 300 }),
        fc.integer({ min: 1, max: 9 }),
        (steps, window) => {
          const { requests, moment, failures, counters } = requestsOf({ clients: 4, window });
          const next = [0, 0, 0, 0];
          const open = [0, 0, 0, 0];
          const answered = new Set<string>();
          let asked = 0;
          let most = 0;
          let refusedWithNothingOpen = 0;
          const free = (position: number) => {
            open[position] = (open[position] ?? 0) - 1;
          };
          for (const { position, kind, back, us } of steps) {
            const seq = next[position] ?? 0;
            if (kind === 'wait') {
              moment[0] = (moment[0] ?? 0) + us;
              requests.expire(free);
            } else if (kind === 'ask' && requests.hasRoom(position, seq)) {
              requests.open(position, seq, due(moment[0] ?? 0));
              next[position] = seq + 1;
              open[position] = (open[position] ?? 0) + 1;
              most = Math.max(most, open[position] ?? 0);
              asked += 1;
            } else if (kind === 'ask') {
              if (open[position] === 0) refusedWithNothingOpen += 1;
            } else if (seq > back) {
              const before = failures.length;
              if (requests.answered(position, seq - 1 - back)) {
                free(position);
                if (failures.length === before) answered.add(`${position}/${seq - 1 - back}`);
              }
            }
          }
          expect(most).toBeLessThanOrEqual(window);
          expect(refusedWithNothingOpen).toBe(0);
          expect(requests.total).toBe(open.reduce((a, b) => a + b, 0));
          requests.giveUp();
          expect(answered.size + failures.length).toBe(asked);
          expect(counters().responses).toBe(answered.size);
        },
      ),
      { numRuns: 200 },
    );
  });
});
