import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HeaderScan } from '../../src/codec/index.ts';
import {
  type Answer,
  type NoAnswer,
  WaitingRequests,
} from '../../src/connections/waiting-requests.ts';

const CAPACITY = 8;
const frame = { bytes: Buffer.alloc(0), serialization: 0, headerAt: 0, bodyAt: 0, end: 0 };
const answer: Answer = { head: new HeaderScan(), frame };

interface Step {
  readonly kind: 'add' | 'settle' | 'expire';
  readonly number: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('add', 'settle', 'expire'),
  number: fc.nat(60),
});

/** The table beside a plain map of what is open: opaque to deadline. */
class Model {
  readonly waiting = new WaitingRequests(CAPACITY);
  readonly open = new Map<number, number>();
  /** By token. */
  readonly opaques: number[] = [];
  settled: string[] = [];
  nowUs = 0;

  answered(token: number): void {
    this.settled.push(`answered ${token}`);
  }

  unanswered(token: number, why: NoAnswer): void {
    this.settled.push(`${why} ${token}`);
  }

  /** What the step should settle. */
  take(each: Step): string[] {
    this.settled = [];
    return this[each.kind](each.number);
  }

  add(number: number): string[] {
    if (this.waiting.isFull) return [];
    const deadlineUs = this.nowUs + number + 1;
    const opaque = this.waiting.add(this, this.opaques.length, deadlineUs);
    this.open.set(opaque, deadlineUs);
    this.opaques.push(opaque);
    return [];
  }

  settle(number: number): string[] {
    const token = number % (this.opaques.length + 1);
    const opaque = this.opaques[token] ?? -1;
    const isOpen = this.open.delete(opaque);
    const isTaken = this.waiting.settle(opaque, answer);
    return isTaken === isOpen && isOpen ? [`answered ${token}`] : [];
  }

  expire(number: number): string[] {
    this.nowUs += number;
    const due = [...this.open].filter(([, deadlineUs]) => deadlineUs <= this.nowUs);
    for (const [opaque] of due) this.open.delete(opaque);
    this.waiting.expire(this.nowUs);
    return due.map(([opaque]) => `timed out ${this.opaques.indexOf(opaque)}`);
  }
}

test('each request is settled once, by its own answer or when its time is over, and by no other', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const model = new Model();
      for (const each of steps) {
        const expected = model.take(each);
        expect(model.settled.toSorted()).toEqual(expected.toSorted());
        expect(model.waiting.count).toBe(model.open.size);
        expect(model.waiting.isFull).toBe(model.open.size === CAPACITY);
      }
      model.settled = [];
      model.waiting.abandon();
      expect(model.settled.length).toBe(model.open.size);
      expect(new Set(model.opaques).size).toBe(model.opaques.length);
    }),
  );
});

test('a number of requests that is no power of two is refused', () => {
  expect(() => new WaitingRequests(12)).toThrow(RangeError);
});

test('opaques stay positive 32-bit numbers, however often a slot is used', () => {
  const waiting = new WaitingRequests(2 ** 20);
  const handler = { answered: () => undefined, unanswered: () => undefined };
  let largest = 0;
  for (let i = 0; i < 5_000; i += 1) {
    const opaque = waiting.add(handler, 0, 1);
    largest = Math.max(largest, opaque);
    expect(opaque).toBeGreaterThanOrEqual(0);
    waiting.settle(opaque, answer);
  }
  expect(largest).toBeLessThan(2 ** 31);
});
