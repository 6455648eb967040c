import type { IncomingMessage, ServerResponse } from 'node:http';
import { hookPrometheusText } from './prometheus-text.ts';
import type { HookStats } from './stats.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** What the hook says of itself; anything but POST and PUT comes here. */
export function answerOwnPage(
  request: IncomingMessage,
  response: ServerResponse,
  stats: (run?: string) => HookStats,
): void {
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD, POST, PUT', 'content-type': TEXT_TYPE });
    response.end('messages come by POST or PUT\n');
    return;
  }
  const [path = '/', query] = (request.url ?? '/').split('?', 2);
  const run = new URLSearchParams(query).get('run') ?? undefined;
  switch (path) {
    case '/stats':
      answer(response, JSON_TYPE, `${JSON.stringify(stats(run))}\n`);
      return;
    case '/metrics':
      answer(response, PROMETHEUS_TYPE, hookPrometheusText(stats(run)));
      return;
    case '/healthz':
      answer(response, TEXT_TYPE, 'ok\n');
      return;
    default:
      response.writeHead(404, { 'content-type': TEXT_TYPE });
      response.end('there are /stats, /metrics and /healthz; messages come by POST to any path\n');
  }
}

function answer(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(text);
}
