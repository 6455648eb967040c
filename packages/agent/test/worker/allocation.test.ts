import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { buildWorker } from './fixture/forked-worker.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
/** A young generation so large that nothing is collected while the probe looks. */
const NO_COLLECTION = ['--min-semi-space-size=512', '--max-semi-space-size=512'];

beforeAll(buildWorker, 60_000);

test('from schedule to histogram, a message allocates nothing', { timeout: 60_000 }, () => {
  const { messages, bytesPerMessage } = probed('allocation-probe.js');
  expect(messages).toBeGreaterThan(150_000);
  // Below zero there was a collection, which proves nothing.
  expect(bytesPerMessage).toBeGreaterThanOrEqual(0);
  expect(bytesPerMessage).toBeLessThan(1);
});

test('a message by chance and a changing rate costs one boxed number at most', {
  timeout: 60_000,
}, () => {
  const { messages, bytesPerMessage } = probed('allocation-probe.js', 'random');
  expect(messages).toBeGreaterThan(150_000);
  expect(bytesPerMessage).toBeGreaterThanOrEqual(0);
  // 16 bytes where V8 found no room to inline everything, and what a block of arrivals draws.
  expect(bytesPerMessage).toBeLessThan(20);
});

test.for([['bench/fan-out'], ['bench/+'], ['$share/crew/bench/#']])(
  'from stamp to ledger, a message received through %s allocates nothing',
  { timeout: 60_000 },
  ([filter = '']) => {
    const { messages, bytesPerMessage } = probed('receive-probe.js', filter);
    expect(messages).toBeGreaterThan(150_000);
    expect(bytesPerMessage).toBeLessThan(1);
  },
);

function probed(file: string, ...args: string[]): Record<string, number | undefined> {
  const command = [...NO_COLLECTION, path.join(here, 'fixture', file), ...args];
  return JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' }));
}
