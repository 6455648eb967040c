import { lookup } from 'node:dns/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { SquallError } from '@squall/core/errors';

export interface ListenAddress {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Takes addresses that other machines reach, too. */
  readonly remote?: boolean;
  /** Encrypts everything on the port. */
  readonly tls?: TlsIdentity;
  /** What comes without a wish for a WebSocket. */
  readonly requests?: RequestListener;
}

/** What the controller shows to agents and callers, PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/**
 * Opens the controller's port. Without a join token and TLS only loopback addresses are taken: a
 * token that crosses a network in the clear protects little.
 * @throws SquallError SQ_LISTEN when the address is not local, taken or not allowed, or when
 * certificate and key do not fit.
 */
export async function listen(address: ListenAddress): Promise<{ server: Server; port: number }> {
  const host = await resolved(address);
  const server = serverFor(address);
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

function serverFor({ tls, requests = refuse }: ListenAddress): Server {
  if (tls === undefined) return createServer(requests);
  try {
    return createTlsServer({ ...tls, minVersion: 'TLSv1.2' }, requests);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SquallError('SQ_LISTEN', `certificate and key cannot be used: ${why}`, {
      hint: 'give a PEM certificate (chain) and the PEM key that belongs to it',
      cause,
    });
  }
}

const refuse: RequestListener = (_request, response) => {
  response.writeHead(426, { 'content-type': 'text/plain' }).end('This port speaks WebSocket.\n');
};

async function resolved({ host, remote = false }: ListenAddress): Promise<string> {
  const found = await lookup(host).catch((cause: unknown) => {
    throw new SquallError('SQ_LISTEN', `the host name ${host} cannot be resolved`, {
      hint: 'give an address of this machine, for example 127.0.0.1',
      cause,
    });
  });
  if (remote || isLoopback(found.address)) return found.address;
  throw new SquallError(
    'SQ_LISTEN',
    `without a join token and TLS the controller listens on loopback only, not on ${host}`,
    {
      hint: 'set SQUALL_TOKEN and give --tls-cert and --tls-key, or listen on 127.0.0.1',
      path: host,
    },
  );
}

export function isLoopback(address: string): boolean {
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
