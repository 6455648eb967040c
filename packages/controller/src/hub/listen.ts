import { lookup } from 'node:dns/promises';
import { createServer, type Server } from 'node:http';
import { SquallError } from '@squall/core/errors';

export interface ListenAddress {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/**
 * Opens the controller's port. The control link is not encrypted in this version, so only loopback
 * addresses are taken: a join token that crosses a network in the clear protects nothing.
 * @throws SquallError SQ_LISTEN when the address is not local, taken or not allowed.
 */
export async function listen(address: ListenAddress): Promise<{ server: Server; port: number }> {
  const host = await loopbackAddress(address.host);
  const server = createServer((_request, response) => {
    response.writeHead(426, { 'content-type': 'text/plain' }).end('This port speaks WebSocket.\n');
  });
  await new Promise<void>((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => reject(listenError(address, cause));
    server.once('error', failed);
    server.listen(address.port, host, () => {
      server.off('error', failed);
      resolve();
    });
  });
  const bound = server.address();
  return { server, port: bound !== null && typeof bound === 'object' ? bound.port : address.port };
}

async function loopbackAddress(host: string): Promise<string> {
  const resolved = await lookup(host).catch((cause: unknown) => {
    throw new SquallError('SQ_LISTEN', `the host name ${host} cannot be resolved`, {
      hint: 'give an address of this machine, for example 127.0.0.1',
      cause,
    });
  });
  if (isLoopback(resolved.address)) return resolved.address;
  throw new SquallError(
    'SQ_LISTEN',
    `without a join token and TLS the controller listens on loopback only, not on ${host}`,
    {
      hint: 'listen on 127.0.0.1 and let agents of other machines in through an encrypted tunnel',
      path: host,
    },
  );
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

function listenError(address: ListenAddress, cause: NodeJS.ErrnoException): SquallError {
  const where = `${address.host}:${address.port}`;
  if (cause.code === 'EADDRINUSE') {
    return new SquallError('SQ_LISTEN', `the address ${where} is in use`, {
      hint: 'choose another port, or 0 for any free one',
      path: where,
      cause,
    });
  }
  const denied = cause.code === 'EACCES';
  const hint = denied ? 'choose a port above 1023' : 'choose an address of this machine';
  return new SquallError('SQ_LISTEN', `cannot listen on ${where}: ${cause.message}`, {
    hint,
    path: where,
    cause,
  });
}
