import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Row } from '../src/row.ts';

const one = (seq: number, epoch = 1) => ({ epoch, seqFrom: seq, seqTo: seq });

describe('the row of an agent', () => {
  it('reads on behind what came, and begins behind what a checkpoint holds', () => {
    const row = new Row(1, 7);
    expect(row.readId).toBe('1-7');
    expect(row.take({ epoch: 1, seqFrom: 8, seqTo: 10 })).toBeNull();
    expect([row.readId, row.completeSeq, row.hasHole]).toEqual(['1-10', 10, false]);
  });

  it('tells a hole once, reads from it on when rewound, and forgets it when it is filled', () => {
    const row = new Row(1, 0);
    row.take(one(1));
    expect(row.take(one(4))).toEqual({ seqFrom: 2, seqTo: 3 });
    expect(row.take(one(5))).toBeNull();
    row.rewind();
    expect([row.readId, row.hasHole]).toEqual(['1-1', true]);
    expect(row.take(one(4))).toBeNull();
    row.rewind();
    for (const seq of [2, 3, 4, 5]) row.take(one(seq));
    expect([row.readId, row.completeSeq, row.hasHole]).toEqual(['1-5', 5, false]);
    expect(row.take(one(7))).toEqual({ seqFrom: 6, seqTo: 6 });
  });

  it('begins anew with a later epoch and has no ear for an earlier one', () => {
    const row = new Row(1, 0);
    row.take(one(9));
    expect(row.take(one(1, 2))).toBeNull();
    expect([row.epoch, row.readId, row.hasHole]).toEqual([2, '2-1', false]);
    expect(row.take(one(10, 1))).toBeNull();
    expect(row.readId).toBe('2-1');
  });

  it('is complete exactly as far as everything has come, in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7, 8]), (order) => {
        const row = new Row(1, 0);
        const came = new Set<number>();
        // As reading does: whenever a hole is there, the stream is read again from it on.
        for (const seq of order) {
          came.add(seq);
          row.rewind();
          for (const again of [...came].toSorted((a, b) => a - b)) row.take(one(again));
        }
        let complete = 0;
        while (came.has(complete + 1)) complete++;
        expect(row.completeSeq).toBe(complete);
        expect(row.hasHole).toBe(came.size > complete);
      }),
    );
  });
});
