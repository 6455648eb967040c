import { expect, test, vi } from 'vitest';
import { createTlsContext } from '../../src/index.ts';
import type * as directRead from '../../src/transport/direct-read.ts';
import type * as directWrite from '../../src/transport/direct-write.ts';
import { publishTo, readSlowly } from '../clients/slow-reader.ts';
import { Authority, noCertificates, read } from '../fixture/certificates.ts';
import { TlsServer } from './tls-server.ts';

vi.mock('../../src/transport/direct-write.ts', async (load) => ({
  ...(await load<typeof directWrite>()),
  directHandle: () => null,
}));
vi.mock('../../src/transport/direct-read.ts', async (load) => ({
  ...(await load<typeof directRead>()),
  readDirectly: () => undefined,
}));

test('a Node without direct reads and writes is served all the same over TLS', async ({ skip }) => {
  const missing = noCertificates();
  if (missing !== null) skip(missing);
  const authority = new Authority();
  const server = await TlsServer.start(read(authority.issue({ name: 'localhost' })), readSlowly);
  authority.dispose();
  const context = createTlsContext({ ca: null, cert: null, key: null, minVersion: null });
  const tls = { context, servername: null, verify: false, alpn: [], sessions: null };
  const result = await publishTo(server, { tls });
  expect(result.stuckBytes).toBeGreaterThan(64 * 1024);
  expect(result.stuckAfterwards).toBe(0);
  expect(result.received.equals(result.sent)).toBe(true);
  expect(result.drained).toBe(1);
  await server.stop();
});
