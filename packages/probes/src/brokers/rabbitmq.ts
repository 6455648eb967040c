import { isMap, type JsonMap, mapOf, mapsOf, numberIn, parseJson } from '../http/json-value.ts';
import { pageOf, pageText } from '../http/page.ts';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';

type Field = readonly [figure: string, key: string];

const TOTALS: readonly Field[] = [
  ['connections', 'connections'],
  ['consumers', 'consumers'],
  ['queues', 'queues'],
];
const QUEUES: readonly Field[] = [
  ['messages_queued', 'messages'],
  ['messages_ready', 'messages_ready'],
  ['messages_unacknowledged', 'messages_unacknowledged'],
];
const MESSAGES: readonly Field[] = [
  ['messages_in', 'publish'],
  ['messages_confirmed', 'confirm'],
  ['messages_out', 'deliver_get'],
  ['messages_acknowledged', 'ack'],
  ['messages_redelivered', 'redeliver'],
  ['messages_dropped', 'drop_unroutable'],
];
const CHURN: readonly Field[] = [
  ['connections_opened', 'connection_created'],
  ['connections_closed', 'connection_closed'],
];

/**
 * The management API of RabbitMQ. It collects every 5 s, so a reading may be that old; before the first
 * message its counters are not there at all, which is 0.
 */
export class RabbitmqProbe implements Probe {
  readonly #overview: ReturnType<typeof pageOf>;
  readonly #nodes: ReturnType<typeof pageOf>;

  /** @param url of the API's server, with the account: `http://user:password@host:15672` */
  constructor(url: string) {
    this.#overview = pageOf(below(url, 'api/overview'));
    this.#nodes = pageOf(below(url, 'api/nodes'));
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const [overview, nodes] = await Promise.all([
      pageText({ ...this.#overview, signal }),
      pageText({ ...this.#nodes, signal }),
    ]);
    const figures = new Map<string, Figure>();
    addOverview(mapOf(parseJson(overview), 'the overview'), figures);
    addNodes(mapsOf(parseJson(nodes), 'the list of nodes'), figures);
    return figures;
  }

  async close(): Promise<void> {}
}

function addOverview(overview: JsonMap, figures: Map<string, Figure>): void {
  if (!isMap(overview['object_totals'])) {
    throw new ProbeError('unexpected answer', 'no object_totals: not the API of RabbitMQ');
  }
  const counts = (map: string, fields: readonly Field[], kind: Figure['kind']) => {
    const values = isMap(overview[map]) ? overview[map] : {};
    for (const [figure, key] of fields) {
      figures.set(figure, { value: numberIn(values, key) ?? 0, kind, unit: 'count' });
    }
  };
  counts('object_totals', TOTALS, 'gauge');
  counts('queue_totals', QUEUES, 'gauge');
  counts('message_stats', MESSAGES, 'counter');
  counts('churn_rates', CHURN, 'counter');
}

function addNodes(nodes: readonly JsonMap[], figures: Map<string, Figure>): void {
  const running = nodes.filter((node) => node['running'] === true);
  const sum = (key: string): number =>
    running.reduce((total, node) => total + (numberIn(node, key) ?? 0), 0);
  const alarms = running.filter(
    (node) => node['mem_alarm'] === true || node['disk_free_alarm'] === true,
  );
  const gauges: readonly (readonly [string, number, Figure['unit']])[] = [
    ['nodes', running.length, 'count'],
    // Publishers are blocked while there is one.
    ['alarms', alarms.length, 'count'],
    ['memory_used', sum('mem_used'), 'bytes'],
    ['disk_free', sum('disk_free'), 'bytes'],
    ['processes', sum('proc_used'), 'count'],
    ['run_queue', sum('run_queue'), 'count'],
  ];
  for (const [figure, value, unit] of gauges) figures.set(figure, { value, kind: 'gauge', unit });
}

function below(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/(?:api\/?)?$/, '')}/${path}`;
  return url.href;
}
