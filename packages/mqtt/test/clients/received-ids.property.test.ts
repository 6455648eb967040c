import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReceivedIds } from '../../src/clients/received-ids.ts';

const SLOTS = 3;
const step = fc.record({
  slot: fc.nat(SLOTS - 1),
  // Few ids, so that they meet; and all of them, so that tables grow.
  id: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 65_535 })),
  what: fc.constantFrom('add', 'add', 'remove', 'clear'),
});

test('ids of received messages behave like a set a client', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const ids = new ReceivedIds(SLOTS);
      const model = Array.from({ length: SLOTS }, () => new Set<number>());
      for (const { slot, id, what } of steps) {
        const set = model[slot] ?? new Set();
        const isIn = set.has(id);
        let said = isIn;
        if (what === 'add') {
          said = !ids.add(slot, id);
          set.add(id);
        } else if (what === 'remove') {
          said = ids.remove(slot, id);
          set.delete(id);
        } else if (id < 5) {
          ids.clear(slot);
          set.clear();
        }
        expect(said).toBe(isIn);
        expect(ids.countOf(slot)).toBe(set.size);
      }
    }),
  );
});

test('every id there is can be open at a time', () => {
  const ids = new ReceivedIds(1);
  for (let id = 1; id <= 65_535; id += 1) expect(ids.add(0, id)).toBe(true);
  expect(ids.countOf(0)).toBe(65_535);
  for (let id = 1; id <= 65_535; id += 1) expect(ids.remove(0, id)).toBe(true);
  expect(ids.countOf(0)).toBe(0);
});
