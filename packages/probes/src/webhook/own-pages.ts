import type { IncomingMessage, ServerResponse } from 'node:http';
import { hookPrometheusText } from './prometheus-text.ts';
import { CLOCKS_HEADER, type HookClock, readClocksHeader } from './clock-header.ts';
import type { SeenClock } from './hook-clocks.ts';
import type { HookStats } from './stats.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** The hook, as its pages speak for it. */
export interface HookSpeaker {
  stats(run?: string): HookStats;
  clock(): HookClock;
  see(clocks: readonly SeenClock[]): void;
}

/** What the hook says of itself; anything but POST and PUT comes here. */
export function answerOwnPage(
  request: IncomingMessage,
  response: ServerResponse,
  hook: HookSpeaker,
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
      hear(request, hook);
      answer(
        response,
        JSON_TYPE,
        `${JSON.stringify({ ...hook.stats(run), clock: hook.clock() })}\n`,
      );
      return;
    case '/metrics':
      answer(response, PROMETHEUS_TYPE, hookPrometheusText(hook.stats(run)));
      return;
    case '/healthz':
      answer(response, TEXT_TYPE, 'ok\n');
      return;
    default:
      response.writeHead(404, { 'content-type': TEXT_TYPE });
      response.end('there are /stats, /metrics and /healthz; messages come by POST to any path\n');
  }
}

/** A run tells of its publishers' clocks when it asks. */
function hear(request: IncomingMessage, hook: HookSpeaker): void {
  const header = request.headers[CLOCKS_HEADER];
  const clocks = typeof header === 'string' ? readClocksHeader(header) : null;
  if (clocks !== null) hook.see(clocks);
}

function answer(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(text);
}
