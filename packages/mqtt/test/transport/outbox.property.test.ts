import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Outbox } from '../../src/transport/outbox.ts';
import type { Transport } from '../../src/transport/transport.ts';

/** Takes writes at once or keeps them as they lie, to be read later, as a kernel may. */
class MoodyTransport implements Transport {
  readonly taken: Buffer[] = [];
  takesAtOnce = true;
  writes = 0;
  unsentBytes = 0;

  send(bytes: Buffer): boolean {
    this.writes += 1;
    this.taken.push(this.takesAtOnce ? Buffer.from(bytes) : bytes);
    return this.takesAtOnce;
  }
  finish(): void {}
  abort(): void {}
  reset(): void {}
  all(): string {
    return Buffer.concat(this.taken).toString('hex');
  }
}

const TRANSPORTS = 3;
const step = fc.record({
  transport: fc.nat(TRANSPORTS - 1),
  size: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 400 }) }, fc.nat(150_000)),
  takesAtOnce: fc.boolean(),
  flush: fc.boolean(),
});

describe('outbox', () => {
  test('every transport gets its bytes in order, however long it keeps them', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const outbox = new Outbox();
        const transports = Array.from({ length: TRANSPORTS }, () => new MoodyTransport());
        const expected = transports.map((): Buffer[] => []);
        let total = 0;
        for (const [n, { transport: index, size, takesAtOnce, flush }] of steps.entries()) {
          const transport = transports[index];
          if (transport === undefined) continue;
          const at = outbox.reserve(transport, size);
          outbox.slab.fill(n + 1, at, at + size);
          transport.takesAtOnce = takesAtOnce;
          expected[index]?.push(Buffer.alloc(size, n + 1));
          total += size;
          if (flush) outbox.flush();
        }
        outbox.flush();
        expect(transports.map((t) => t.all())).toEqual(
          expected.map((parts) => Buffer.concat(parts).toString('hex')),
        );
        expect(outbox.handedOver).toBe(total);
      }),
      { numRuns: 60 },
    );
  });

  test('packets in a row to one transport become one write', () => {
    const outbox = new Outbox();
    const transport = new MoodyTransport();
    for (let n = 0; n < 10; n += 1) outbox.slab.fill(n, outbox.reserve(transport, 10), n * 10 + 10);
    outbox.flush();
    outbox.flush();
    expect(transport.writes).toBe(1);
    expect(transport.all()).toHaveLength(200);
  });

  test('what was dropped is never sent', () => {
    const outbox = new Outbox();
    const gone = new MoodyTransport();
    const other = new MoodyTransport();
    outbox.reserve(gone, 100);
    outbox.drop(gone);
    outbox.slab.fill(7, outbox.reserve(other, 3));
    outbox.drop(gone);
    outbox.flush();
    expect(gone.writes).toBe(0);
    expect(other.all()).toBe('070707');
  });
});
