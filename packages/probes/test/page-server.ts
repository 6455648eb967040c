import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server whose answers a test sets as it goes. */
export class PageServer {
  readonly #server: Server;
  answer: Answer;

  private constructor(answer: Answer) {
    this.answer = answer;
    this.#server = createServer((request, response) => this.answer(request, response));
  }

  static async start(answer: Answer | string = ''): Promise<PageServer> {
    const server = new PageServer(typeof answer === 'string' ? text(answer) : answer);
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  /** @param account `user:password` */
  url(path = '/metrics', account = ''): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${account === '' ? '' : `${account}@`}127.0.0.1:${port}${path}`;
  }

  says(page: string): void {
    this.answer = text(page);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

function text(page: string): Answer {
  return (_request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end(page);
  };
}
