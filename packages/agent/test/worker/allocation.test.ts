import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { buildWorker } from './fixture/forked-worker.ts';

const probe = path.join(
  path.dirname(fileURLToPath(import.meta.url)),
  'fixture/allocation-probe.js',
);
/** A young generation so large that nothing is collected while the probe looks. */
const NO_COLLECTION = ['--min-semi-space-size=512', '--max-semi-space-size=512'];

beforeAll(buildWorker, 60_000);

test('from schedule to histogram, a message allocates nothing', { timeout: 60_000 }, () => {
  const said = execFileSync(process.execPath, [...NO_COLLECTION, probe], { encoding: 'utf8' });
  const { messages, bytesPerMessage } = JSON.parse(said) as Record<string, number>;
  expect(messages).toBeGreaterThan(150_000);
  expect(bytesPerMessage).toBeLessThan(1);
});
