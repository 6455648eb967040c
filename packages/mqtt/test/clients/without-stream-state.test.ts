import { expect, test, vi } from 'vitest';
import { publishToSlowReader } from './slow-reader.ts';

vi.mock('../../src/transport/stream-state.ts', () => ({ streamState: null }));

test('direct writes that ask the handle itself wait and resume all the same', async () => {
  const result = await publishToSlowReader();
  expect(result.stuckBytes).toBeGreaterThan(64 * 1024);
  expect(result.stuckAfterwards).toBe(0);
  expect(result.received.equals(result.sent)).toBe(true);
  expect(result.drained).toBe(1);
});
