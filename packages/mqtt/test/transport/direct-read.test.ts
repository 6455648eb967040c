import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  vi.doUnmock('../../src/transport/stream-state.ts');
  vi.resetModules();
});

/** What one connection reads of a peer that says "abc" and goes: the owner's part and `net`'s. */
async function readOne(): Promise<{ owner: string[]; net: string[]; closed: boolean }> {
  const { readDirectly } = await import('../../src/transport/direct-read.ts');
  const port = await listen((peer) => peer.end('abc'));
  const buffer = Buffer.alloc(64);
  const seen = { owner: [] as string[], net: [] as string[], closed: false };
  const take = (list: string[], length: number): boolean => {
    list.push(buffer.toString('latin1', 0, length));
    return true;
  };
  const socket = connect({
    host: '127.0.0.1',
    port,
    onread: { buffer, callback: (length) => take(seen.net, length) },
  });
  socket.once('connect', () => {
    readDirectly(socket, { received: (length) => take(seen.owner, length) });
  });
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  seen.closed = true;
  return seen;
}

function listen(onPeer: (peer: Socket) => void): Promise<number> {
  const server = createServer(onPeer).listen(0, '127.0.0.1');
  servers.push(server);
  return new Promise((resolve) => {
    server.once('listening', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

test('bytes go straight to the owner, the end still through net', async () => {
  expect(await readOne()).toEqual({ owner: ['abc'], net: [], closed: true });
});

test('a Node that keeps its stream notes to itself is served through net', async () => {
  vi.doMock('../../src/transport/stream-state.ts', () => ({ streamState: null }));
  vi.resetModules();
  expect(await readOne()).toEqual({ owner: [], net: ['abc'], closed: true });
});
