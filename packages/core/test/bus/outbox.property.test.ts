import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Batch, MAX_BATCH_FRAMES, Outbox, OUTBOX_LIMIT } from '@squall/core/bus';
import { decodeFrame, type Frame, RunAggregate } from '@squall/core/metrics';

function frame(seq: number): Frame {
  const [fromUs, toUs] = [(seq - 1) * 1e6, seq * 1e6];
  const series = [{ metric: 'sent', subject: 'd', stage: 0, value: seq }] as const;
  const slice = { stage: 0, phase: 'main', n: seq - 1, span: 1, fromUs, toUs, series } as const;
  const slices = [{ ...slice, examples: [] }];
  return { run: 'r', agent: 'a', epoch: 1, seqFrom: seq, seqTo: seq, slices };
}

function filled(count: number, limit = OUTBOX_LIMIT): Outbox {
  const outbox = new Outbox(limit);
  for (let seq = 1; seq <= count; seq++) outbox.append(frame(seq));
  return outbox;
}

function batchOf(outbox: Outbox): Batch {
  const batch = outbox.takeBatch();
  if (batch === null) throw new Error('there was something to send');
  return batch;
}

const ranges = (batch: Batch) => batch.map(({ seqFrom, seqTo }) => [seqFrom, seqTo]);

const command = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ kind: 'append' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'take' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('taken' as const), of: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'failed' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'acknowledge' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rewind' as const }) },
);

describe('Outbox', () => {
  it('sends in order, one batch at a time, and frees only what a checkpoint holds', () => {
    const outbox = filled(3);
    const batch = batchOf(outbox);
    expect(ranges(batch)).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(outbox.takeBatch()).toBeNull();
    expect(outbox.isSending).toBe(true);
    outbox.taken(batch, 3);
    expect(outbox.takeBatch()).toBeNull();
    expect(outbox.size).toBe(3);
    outbox.acknowledge(2);
    expect([outbox.size, outbox.acknowledgedSeq]).toEqual([1, 2]);
    outbox.acknowledge(1);
    expect(outbox.acknowledgedSeq).toBe(2);
    outbox.acknowledge(99);
    expect([outbox.isEmpty, outbox.acknowledgedSeq]).toEqual([true, 3]);
  });

  it('offers the rest of a batch that was taken in part, and all of one that failed', () => {
    const outbox = filled(3);
    outbox.taken(batchOf(outbox), 1);
    const rest = batchOf(outbox);
    expect(ranges(rest)).toEqual([
      [2, 2],
      [3, 3],
    ]);
    outbox.failed(rest);
    expect(outbox.failures).toBe(1);
    const again = batchOf(outbox);
    expect(again.map(({ bytes }) => bytes)).toEqual(rest.map(({ bytes }) => bytes));
    // The very same bytes: attempted once, a frame never changes.
    expect(again[0]?.bytes).toBe(rest[0]?.bytes);
  });

  it('offers everything unacknowledged again after a rewind and ignores what comes of the old batch', () => {
    const outbox = filled(2);
    const old = batchOf(outbox);
    outbox.rewind();
    const fresh = batchOf(outbox);
    expect(ranges(fresh)).toEqual(ranges(old));
    outbox.taken(old, 2);
    expect(outbox.isSending).toBe(true);
    outbox.failed(old);
    expect([outbox.isSending, outbox.failures]).toEqual([true, 0]);
    outbox.taken(fresh, 2);
    expect(outbox.takeBatch()).toBeNull();
  });

  it('offers again, unchanged, what the bus lost after it had taken it', () => {
    const outbox = filled(4);
    const first = batchOf(outbox);
    outbox.taken(first, 4);
    outbox.acknowledge(1);
    outbox.append(frame(5));
    outbox.taken(batchOf(outbox), 2);
    const again = batchOf(outbox);
    expect(ranges(again).map(([from]) => from)).toEqual([3, 4, 5]);
    expect(again[0]?.bytes).toBe(first[2]?.bytes);
    // Even a bus that lost all needs nothing that a checkpoint holds.
    outbox.taken(again, 0);
    expect(ranges(batchOf(outbox)).map(([from]) => from)).toEqual([2, 3, 4, 5]);
  });

  it('bounds batches', () => {
    const outbox = filled(2 * MAX_BATCH_FRAMES + 1);
    const sizes = [];
    for (let batch = outbox.takeBatch(); batch !== null; batch = outbox.takeBatch()) {
      sizes.push(batch.length);
      outbox.taken(batch, batch.at(-1)?.seqTo ?? 0);
    }
    expect(sizes).toEqual([MAX_BATCH_FRAMES, MAX_BATCH_FRAMES, 1]);
  });

  it('gets coarser evenly and not longer when nothing can be sent', () => {
    const outbox = filled(1_000);
    expect(outbox.size).toBe(OUTBOX_LIMIT);
    expect(outbox.coarsened).toBe(1_000 - OUTBOX_LIMIT);
    const widths: number[] = [];
    while (!outbox.isEmpty) {
      const batch = batchOf(outbox);
      widths.push(...batch.map(({ seqFrom, seqTo }) => seqTo - seqFrom + 1));
      outbox.acknowledge(batch.at(-1)?.seqTo ?? 0);
      outbox.taken(batch, batch.at(-1)?.seqTo ?? 0);
    }
    expect(widths.reduce((sum, width) => sum + width, 0)).toBe(1_000);
    expect(Math.max(...widths)).toBeLessThanOrEqual(16);
  });

  it('keeps two places for what can get coarser, so that it never holds more than its limit', () => {
    const outbox = filled(6, 6);
    const first = batchOf(outbox);
    expect(first).toHaveLength(4);
    outbox.taken(first, 4);
    for (let seq = 7; seq < 50; seq++) outbox.append(frame(seq));
    expect(outbox.takeBatch()).toBeNull();
    expect(outbox.size).toBe(6);
    outbox.acknowledge(4);
    expect(ranges(batchOf(outbox)).at(-1)?.[1]).toBe(49);
  });

  it('refuses a frame out of order and a limit too small to work with', () => {
    const outbox = filled(1);
    expect(() => outbox.append(frame(3))).toThrow('does not follow');
    expect(() => outbox.append(frame(1))).toThrow('does not follow');
    expect(() => new Outbox(3)).toThrow('4 at least');
  });

  it('loses nothing, keeps its limit, its order and its bytes, whatever happens', () => {
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 200 }),
        fc.integer({ min: 4, max: 12 }),
        (commands, limit) => {
          const outbox = new Outbox(limit);
          const aggregate = new RunAggregate('r');
          const bytesOf = new Map<string, Uint8Array>();
          const held: { batch: Batch | null } = { batch: null };
          const arrive = (sent: Batch) => {
            for (const { seqFrom, seqTo, bytes } of sent) {
              const name = `${seqFrom}-${seqTo}`;
              expect(bytesOf.get(name) ?? bytes).toBe(bytes);
              bytesOf.set(name, bytes);
              expect(['folded', 'duplicate']).toContain(aggregate.fold(decodeFrame(bytes)));
            }
          };
          const take = () => {
            held.batch = outbox.takeBatch() ?? held.batch;
            arrive(held.batch ?? []);
          };
          for (const one of commands) {
            const { batch } = held;
            if (one.kind === 'append') outbox.append(frame(outbox.lastSeq + 1));
            if (one.kind === 'take') take();
            if (one.kind === 'taken' && batch !== null) {
              outbox.taken(batch, batch[Math.min(one.of, batch.length - 1)]?.seqTo ?? 0);
            }
            if (one.kind === 'failed' && batch !== null) outbox.failed(batch);
            if (one.kind === 'acknowledge') outbox.acknowledge(aggregate.contiguousSeq('a', 1));
            if (one.kind === 'rewind') outbox.rewind();
            expect(outbox.size).toBeLessThanOrEqual(limit);
          }
          for (let turn = 0; turn < 200 && !outbox.isEmpty; turn++) {
            outbox.rewind();
            take();
            outbox.acknowledge(aggregate.contiguousSeq('a', 1));
          }
          const n = outbox.lastSeq;
          expect(outbox.isEmpty).toBe(true);
          expect(aggregate.missing('a', n)).toEqual([]);
          expect(aggregate.counter({ metric: 'sent' })).toBe((n * (n + 1)) / 2);
        },
      ),
      { numRuns: 200 },
    );
  });
});
