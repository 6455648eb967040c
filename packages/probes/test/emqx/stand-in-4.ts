import type { IncomingMessage, ServerResponse } from 'node:http';
import { PageServer } from '../page-server.ts';
import { basicOf, EmqxStandIn, metricsOf, type NodeState, send, TOPICS } from './stand-in.ts';

/** EMQX 4.3: an envelope around everything, and errors of the matter inside HTTP 200. */
export class Emqx4 extends EmqxStandIn {
  /** Changed actions count from 0 under a new id. */
  actionId = 'data_to_webserver_1';
  /** From 4.4 on open connections are told. */
  tellsLive = false;
  /** A matter that is wrong: HTTP 200 all the same. */
  fault: { code: number; message: string } | null = null;

  static async start(nodes: NodeState[]): Promise<Emqx4> {
    return new Emqx4(await PageServer.start(), nodes);
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '';
    if (!url.startsWith('/api/v4/')) return send(response, 404, 'Not found.');
    if (basicOf(request) !== 'admin:public') return send(response, 401, 'UNAUTHORIZED');
    if (this.fault !== null) return send(response, 200, this.fault);
    const data = this.#data(url.slice('/api/v4'.length));
    if (data === null) return send(response, 404, 'Not found.');
    send(response, 200, { code: 0, data });
  }

  #data(path: string): unknown {
    switch (path) {
      case '/nodes':
        return this.nodes.map((node) => ({
          node: node.name,
          version: '4.3.4',
          node_status: node.running ? 'Running' : 'Stopped',
          uptime: '2 minutes, 14 seconds',
          connections: node.live + node.offline,
          process_used: 278,
          memory_used: '74.34M',
          memory_total: '76.77M',
          load1: '5.14',
        }));
      case '/stats':
        return this.running().map((node) => ({ node: node.name, stats: this.#stats(node) }));
      case '/metrics':
        return this.running().map((node) => ({ node: node.name, metrics: metricsOf(node) }));
      case '/listeners':
        return this.running().map((node) => ({
          node: node.name,
          listeners: [
            { protocol: 'mqtt:tcp', listen_on: '127.0.0.1:1883', current_conns: node.live },
            { protocol: 'http:management', listen_on: '8081', current_conns: 3 },
          ],
        }));
      case '/rules':
        return [this.#rule('rule:hook', 1), this.#rule('rule:other', 2)];
      default:
        return null;
    }
  }

  #stats(node: NodeState): Record<string, number> {
    return {
      'connections.count': node.live + node.offline,
      'connections.max': node.live + node.offline,
      ...(this.tellsLive ? { 'live_connections.count': node.live } : {}),
      'sessions.count': node.live + node.offline,
      'subscriptions.count': node.live,
      'topics.count': TOPICS,
    };
  }

  #rule(id: string, factor: number): unknown {
    return {
      id,
      enabled: true,
      metrics: this.running().map(({ name, rule }) => ({
        node: name,
        matched: rule.matched * factor,
        speed: 296.0,
      })),
      actions: [
        {
          id: this.actionId,
          name: 'data_to_webserver',
          params: { $resource: `resource:${factor}` },
          metrics: this.running().map(({ name, rule }) => ({
            node: name,
            taken: rule.total * factor,
            success: rule.success * factor,
            failed: rule.failed * factor,
          })),
        },
      ],
    };
  }
}
