import type { IncomingMessage, ServerResponse } from 'node:http';
import { PageServer } from '../page-server.ts';
import { basicOf, EmqxStandIn, metricsOf, type NodeState, send, TOPICS } from './stand-in.ts';

type Metrics = Record<string, number>;

/** EMQX 5.x: real statuses, bare lists, counters of rules and actions at pages of their own. */
export class Emqx5 extends EmqxStandIn {
  /** Right after a start. */
  isLoading = false;
  /** Before 5.3.1 there are bridges and no actions. */
  sinks: 'actions' | 'bridges' = 'actions';
  ruleIds = ['db'];
  token = 'token-1';
  logins = 0;

  static async start(nodes: NodeState[]): Promise<Emqx5> {
    return new Emqx5(await PageServer.start(), nodes);
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '';
    if (url === '/api/v5/status') {
      return send(response, 200, 'Node emqx@127.0.0.1 is started\nemqx is running');
    }
    if (url === '/api/v5/login') return this.#logIn(request, response);
    const refusal = this.#refusal(request);
    if (refusal !== null) return send(response, 401, { code: refusal, message: 'no' });
    if (this.isLoading) return send(response, 500, { code: 'INTERNAL_ERROR', message: 'loading' });
    const data = this.#data(decodeURIComponent(url.slice('/api/v5'.length)));
    if (data === null) return send(response, 404, { code: 'NOT_FOUND', message: 'Not Found' });
    send(response, 200, data);
  }

  #logIn(request: IncomingMessage, response: ServerResponse): void {
    this.logins += 1;
    request.setEncoding('utf8');
    let body = '';
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const { username, password } = JSON.parse(body) as { username: string; password: string };
      if (username === 'admin' && password === 'public') {
        send(response, 200, { token: this.token, version: '5.6.1', license: { edition: 'ce' } });
      } else send(response, 401, { code: 'BAD_USERNAME_OR_PWD', message: `no ${password}` });
    });
  }

  #refusal(request: IncomingMessage): string | null {
    if (request.headers.authorization === `Bearer ${this.token}`) return null;
    const basic = basicOf(request);
    if (basic === 'key:secret') return null;
    return basic === null ? 'BAD_TOKEN' : 'BAD_API_KEY_OR_SECRET';
  }

  #data(path: string): unknown {
    switch (path) {
      case '/nodes':
        return this.nodes.map((node) => ({
          node: node.name,
          version: '5.6.1',
          node_status: node.running ? 'running' : 'stopped',
          uptime: 142_895,
          process_used: 444,
          memory_used: '2.15G',
          memory_total: '23.54G',
          load1: 12.75,
        }));
      case '/stats':
        return this.running().map((node) => ({
          node: node.name,
          'connections.count': node.live + node.offline,
          'live_connections.count': node.live,
          'sessions.count': node.live + node.offline,
          'subscriptions.count': node.live,
          'topics.count': TOPICS,
        }));
      case '/metrics':
        return this.running().map((node) => ({ node: node.name, ...metricsOf(node) }));
      case '/rules?limit=1000':
        // No counters in it.
        return { data: this.ruleIds.map((id) => ({ id, enable: true })), meta: { hasnext: false } };
      case `/${this.sinks}`:
        return [{ type: 'mysql', name: 'db', status: 'connected', enable: true }];
      default:
        return this.#metrics(path);
    }
  }

  #metrics(path: string): unknown {
    const rule = /^\/rules\/(.*)\/metrics$/.exec(path)?.[1];
    if (rule !== undefined) return this.ruleIds.includes(rule) ? this.#all(ruleMetrics) : null;
    const sink = new RegExp(`^/${this.sinks}/(.*)/metrics$`).exec(path)?.[1];
    if (sink === undefined) return null;
    // One that there is not is answered with zeros.
    return this.#all(sink === 'mysql:db' ? sinkMetrics : () => ({ matched: 0, success: 0 }));
  }

  #all(metricsOfNode: (node: NodeState) => Metrics): unknown {
    const nodes = this.running().map((node) => ({
      node: node.name,
      metrics: metricsOfNode(node),
    }));
    const metrics: Metrics = {};
    for (const { metrics: own } of nodes) {
      for (const [name, value] of Object.entries(own)) metrics[name] = (metrics[name] ?? 0) + value;
    }
    return { metrics, node_metrics: nodes };
  }
}

const ruleMetrics = ({ rule }: NodeState): Metrics => ({
  matched: rule.matched,
  passed: rule.matched,
  'actions.total': rule.total,
  'actions.success': rule.success,
  'actions.failed': rule.failed,
  'matched.rate': 972,
});

const sinkMetrics = ({ sink }: NodeState): Metrics => ({
  matched: sink.success + sink.failed + sink.dropped + sink.queuing + sink.inflight,
  ...sink,
  'dropped.expired': sink.dropped,
  rate: 972,
});
