import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HookClocks } from '../../src/webhook/hook-clocks.ts';
import { hookStats } from '../../src/webhook/stats.ts';
import { HookTally } from '../../src/webhook/tally.ts';
import { DOMAIN, stamped, stampedText } from './stamped.ts';

const seq = fc.integer({ min: 0, max: 5 });
/** Sound, cut off, damaged, or anything. */
const payload = fc.oneof(
  seq.map((one) => stamped({ seq: one, dueUs: 0 })),
  seq.map((one) => Buffer.from(stampedText({ seq: one, dueUs: 0 }))),
  fc
    .tuple(seq, fc.integer({ min: 0, max: 60 }))
    .map(([one, end]) => stamped({ seq: one }).subarray(0, end)),
  fc
    .tuple(seq, fc.integer({ min: 0, max: 43 }), fc.integer({ min: 0, max: 255 }))
    .map(([one, at, byte]) => {
      const bytes = stamped({ seq: one });
      bytes[at] = byte;
      return bytes;
    }),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
);
const body = fc.oneof(
  payload,
  payload.map((bytes) => Buffer.from(bytes.toString('base64'))),
  payload.map((bytes) => Buffer.from(JSON.stringify({ payload: bytes.toString('base64url') }))),
  fc.array(payload, { maxLength: 4 }).map((all) => Buffer.from(JSON.stringify(all.map(String)))),
  fc.json().map((json) => Buffer.from(json)),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(`[${text}`)),
);

test('whatever a body holds, every message is one thing and every request is counted', () => {
  fc.assert(
    fc.property(fc.array(body, { maxLength: 20 }), (bodies) => {
      const tally = new HookTally({ clocks: new HookClocks(DOMAIN) });
      for (const one of bodies) tally.body(one, 1_000);
      const stats = hookStats(tally);
      const { messages, unique, duplicated, untracked, corrupted, foreign } = stats;
      expect(stats.requests).toBe(bodies.length);
      expect(unique + duplicated + untracked + corrupted + foreign).toBe(messages);
      expect(foreign).toBe(tally.foreign);
      expect(unique).toBeLessThanOrEqual(6);
      const bad = Object.values(stats.badBodies).reduce((sum, count) => sum + count, 0);
      expect(bad).toBeLessThanOrEqual(bodies.length);
      expect(stats.hookLatency.count + stats.untimed).toBe(unique + duplicated);
    }),
    { numRuns: 300 },
  );
});
