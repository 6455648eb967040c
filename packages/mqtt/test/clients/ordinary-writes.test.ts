import { expect, test, vi } from 'vitest';
import type * as directWrite from '../../src/transport/direct-write.ts';
import { publishToSlowReader } from './slow-reader.ts';

vi.mock('../../src/transport/direct-write.ts', async (load) => ({
  ...(await load<typeof directWrite>()),
  directHandle: () => null,
}));

test('a Node without direct writes is served all the same', async () => {
  const result = await publishToSlowReader();
  expect(result.stuckBytes).toBeGreaterThan(64 * 1024);
  expect(result.stuckAfterwards).toBe(0);
  expect(result.received.equals(result.sent)).toBe(true);
  expect(result.drained).toBe(1);
});
