import type { Socket } from 'node:net';
import { createServer, type Server, type TlsOptions, type TLSSocket } from 'node:tls';

/** A TLS server on a free loopback port that does with each connection what the test says. */
export class TlsServer {
  readonly port: number;
  readonly sockets: Set<TLSSocket>;
  readonly #server: Server;

  private constructor(server: Server, port: number, sockets: Set<TLSSocket>) {
    this.#server = server;
    this.port = port;
    this.sockets = sockets;
  }

  static async start(options: TlsOptions, serve: (socket: TLSSocket) => void): Promise<TlsServer> {
    const server = createServer(options);
    const sockets = new Set<TLSSocket>();
    const raw = new Set<Socket>();
    server.on('secureConnection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
      serve(socket);
    });
    server.on('connection', (socket: Socket) => raw.add(socket));
    server.on('close', () => {
      for (const socket of raw) socket.destroy();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new TlsServer(server, address.port, sockets);
  }

  /** From now on no ticket that was given before is worth anything. */
  renewTicketKeys(keys: Buffer): void {
    this.#server.setTicketKeys(keys);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
