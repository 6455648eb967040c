import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { SquallError } from '@squall/core/errors';
import type { AgentStatus } from '../main/options.ts';
import { agentMetrics } from './agent-metrics.ts';

export interface MetricsAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `/metrics` (for Prometheus) and `/healthz` of an agent: 200 while the link to the controller
 * stands and the last share could be carried, else 503 with the reason. Both tell nothing that has to be kept from anybody, so neither asks for a token.
 * @throws SquallError SQ_LISTEN
 */
export async function serveMetrics(
  address: MetricsAddress,
  status: () => AgentStatus,
): Promise<MetricsServer> {
  const registry = agentMetrics(status);
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(response, 405, 'GET only\n');
    else if (path === '/healthz') answerHealth(response, status());
    else if (path === '/metrics') void answerMetrics(request, response);
    else answer(response, 404, 'there are /metrics and /healthz\n');
  });
  const answerMetrics = async (_request: IncomingMessage, response: ServerResponse) => {
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenError(address, cause)));
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  return {
    port: bound !== null && typeof bound === 'object' ? bound.port : address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerHealth(response: ServerResponse, { linkUp, refusal }: AgentStatus): void {
  if (!linkUp) answer(response, 503, 'no link to the controller\n');
  else if (refusal !== null) answer(response, 503, `${refusal}\n`);
  else answer(response, 200, 'ok\n');
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

function listenError({ host, port }: MetricsAddress, cause: Error): SquallError {
  return new SquallError('SQ_LISTEN', `cannot serve metrics on ${host}:${port}: ${cause.message}`, {
    path: `${host}:${port}`,
    hint: 'choose an address of this machine and a port that nobody has',
    cause,
  });
}
