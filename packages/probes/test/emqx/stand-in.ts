import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageServer } from '../page-server.ts';

/** What a node of the cluster counts. */
export interface NodeState {
  readonly name: string;
  running: boolean;
  /** Clients that are connected, and sessions whose client left. */
  live: number;
  offline: number;
  received: number;
  sent: number;
  /** Of messages that only a rule takes: `messages.dropped` counts them, nothing is lost. */
  withoutSubscriber: number;
  queueFull: number;
  rule: { matched: number; success: number; failed: number; total: number };
  sink: { success: number; failed: number; dropped: number; queuing: number; inflight: number };
}

export function nodeState(name: string, more: Partial<NodeState> = {}): NodeState {
  return {
    name,
    running: true,
    live: 0,
    offline: 0,
    received: 0,
    sent: 0,
    withoutSubscriber: 0,
    queueFull: 0,
    rule: { matched: 0, success: 0, failed: 0, total: 0 },
    sink: { success: 0, failed: 0, dropped: 0, queuing: 0, inflight: 0 },
    ...more,
  };
}

/** Topics of the cluster, which every node tells alike. */
export const TOPICS = 12;

/** What all stand-ins share. Their shapes are those of live servers. */
export abstract class EmqxStandIn {
  nodes: NodeState[];
  readonly asked: string[] = [];
  protected readonly server: PageServer;

  constructor(server: PageServer, nodes: NodeState[]) {
    this.server = server;
    this.nodes = nodes;
    server.answer = (request, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      this.answer(request, response);
    };
  }

  url(account = 'admin:public', path = ''): string {
    return this.server.url(path, account);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  protected abstract answer(request: IncomingMessage, response: ServerResponse): void;

  protected running(): NodeState[] {
    return this.nodes.filter(({ running }) => running);
  }
}

/** The metrics that a reading looks at, beside one that it must not take. */
export function metricsOf(node: NodeState): Record<string, number> {
  return {
    'bytes.received': node.received * 220,
    'bytes.sent': node.sent * 220,
    'messages.received': node.received,
    'messages.sent': node.sent,
    'messages.dropped': node.withoutSubscriber,
    'messages.dropped.no_subscribers': node.withoutSubscriber,
    'delivery.dropped': node.queueFull,
    'delivery.dropped.queue_full': node.queueFull,
  };
}

/** What Basic says, or null. */
export function basicOf(request: IncomingMessage): string | null {
  const found = /^Basic (.*)$/.exec(request.headers.authorization ?? '');
  return found?.[1] === undefined ? null : Buffer.from(found[1], 'base64').toString();
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  response.end(isText ? body : JSON.stringify(body));
}
