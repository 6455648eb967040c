import type { Report } from '@squall/core/report';
import { type Html, html, said } from '../markup.ts';
import type { Unit } from '../numbers.ts';
import { both, type Both } from '../words.ts';
import { MAX_CURVES } from './dashes.ts';
import type { Curve, TimeChart } from './time-chart.ts';

type Series = Report['timeline']['series'][number];

/** Charts of a report at most; what is beyond them is named, and stands in the CSV. */
const MAX_CHARTS = 36;

/** Curves of a group up to which it has no chart of its own. */
const FEW_CURVES = 2;

interface Topic {
  readonly title: Both;
  readonly unit: Unit;
  readonly metrics: readonly string[];
  readonly stats: readonly string[];
  /** Curves that stayed 0 are left out. */
  readonly onlySome?: true;
}

/** In the order of the page. A curve belongs to the first topic that names its metric and stat. */
const TOPICS: readonly Topic[] = [
  {
    title: ['Load', '负载'],
    unit: 'per_second',
    metrics: ['scheduled', 'sent', 'acked', 'received', 'responses', 'stored'],
    stats: ['rate'],
    onlySome: true,
  },
  {
    title: ['Latency', '时延'],
    unit: 'us',
    metrics: ['publish_time', 'delivery_time', 'response_time', 'born_time', 'stored_time'],
    stats: ['p50', 'p99'],
  },
  {
    title: ['Service time: handed to the socket → acknowledged', '服务时间：写入套接字 → 确认'],
    unit: 'us',
    metrics: ['service_time'],
    stats: ['p50', 'p99'],
  },
  {
    title: ['Failures', '失败'],
    unit: 'per_second',
    metrics: [
      'dropped',
      'publish_failed',
      'connect_failed',
      'disconnected',
      'subscribe_failed',
      'request_failed',
      'consume_failed',
      'retransmitted',
    ],
    stats: ['rate'],
    onlySome: true,
  },
  {
    title: ['Connections', '连接数'],
    unit: 'count',
    metrics: ['connections'],
    stats: ['value'],
  },
  {
    title: ['Connecting', '建立连接'],
    unit: 'per_second',
    metrics: ['connect_attempts', 'connected', 'subscribed'],
    stats: ['rate'],
    onlySome: true,
  },
  {
    title: ['Time to connect', '连接耗时'],
    unit: 'us',
    metrics: ['connect_time', 'subscribe_time', 'recovery_time'],
    stats: ['p50', 'p99'],
  },
  {
    title: ['Messages waiting', '等待中的消息'],
    unit: 'count',
    metrics: ['inflight', 'backlog', 'lag'],
    stats: ['value'],
    onlySome: true,
  },
  {
    title: ['Payload', '净荷'],
    unit: 'bytes_per_second',
    metrics: ['bytes_sent', 'bytes_received'],
    stats: ['rate'],
    onlySome: true,
  },
];

const GENERATOR: Topic = {
  title: ['Lateness of the generator', '发生器滞后'],
  unit: 'us',
  metrics: ['lateness', 'wait_time'],
  stats: ['p50', 'p99'],
  onlySome: true,
};

/** How the hosts of the agents fared. Their other figures stand in the CSV. */
const HOSTS: readonly Topic[] = [
  {
    title: ['Hosts of the agents: processor', '代理主机：处理器'],
    unit: 'share',
    metrics: ['cpu_used', 'cpu_iowait', 'cpu_steal'],
    stats: ['value'],
    onlySome: true,
  },
  {
    title: ['Hosts of the agents: memory', '代理主机：内存'],
    unit: 'share',
    metrics: ['memory_used_share'],
    stats: ['value'],
  },
  {
    title: ['Hosts of the agents: network', '代理主机：网络'],
    unit: 'bytes_per_second',
    metrics: ['net_in', 'net_out'],
    stats: ['value'],
    onlySome: true,
  },
  {
    title: ['Hosts of the agents: segments sent again', '代理主机：重传的报文段'],
    unit: 'share',
    metrics: ['tcp_retransmits'],
    stats: ['value'],
    onlySome: true,
  },
];

export interface Chosen {
  readonly load: readonly TimeChart[];
  readonly balance: readonly TimeChart[];
  readonly probes: readonly TimeChart[];
  readonly generator: readonly TimeChart[];
  readonly hosts: readonly TimeChart[];
  /** Names of the curves that found no place. */
  readonly leftOut: readonly string[];
}

/** Which curves of the time line are drawn, and together with which. */
export function chooseCharts(report: Report): Chosen {
  const { series } = report.timeline;
  const book = new ChartBook();
  const own = series.filter(({ labels }) => labels['group'] !== undefined);
  const load = TOPICS.flatMap((topic) => topicCharts(topic, own, book));
  const differences = series.filter(({ metric }) => metric === 'balance_difference');
  const balance = book.charts(
    html`${both(['Balance: difference', '对账差额'])}`,
    'count',
    differences.map((one) => ({ name: one.labels['equation'] ?? one.metric, values: one.values })),
  );
  const probes = probeCharts(report, book);
  const generator = topicCharts(GENERATOR, own, book);
  const ofAgents = series.filter(({ labels }) => labels['agent'] !== undefined);
  const hosts = HOSTS.flatMap((topic) => topicCharts(topic, ofAgents, book));
  return {
    load,
    balance: balance.map(sparse),
    probes: probes.map(sparse),
    generator,
    hosts: hosts.map(sparse),
    leftOut: book.leftOut,
  };
}

function sparse(chart: TimeChart): TimeChart {
  return { ...chart, sparse: true };
}

function topicCharts(topic: Topic, series: readonly Series[], book: ChartBook): TimeChart[] {
  const wanted = series.filter(
    ({ metric, labels, values }) =>
      topic.metrics.includes(metric) &&
      topic.stats.includes(labels['stat'] ?? '') &&
      (topic.onlySome !== true || values.some((value) => value !== null && value !== 0)),
  );
  const curves = wanted.toSorted(
    (a, b) => topic.metrics.indexOf(a.metric) - topic.metrics.indexOf(b.metric),
  );
  const title = html`${both(topic.title)}`;
  if (curves.length <= MAX_CURVES) return book.charts(title, topic.unit, curves.map(curveOf));
  // A chart a group, where one for all would be a tangle; groups of few curves share charts.
  const groups = [...new Set(curves.map(ownerOf))];
  const own = groups.map((group) => curves.filter((curve) => ownerOf(curve) === group));
  if (own.every(({ length }) => length <= FEW_CURVES)) {
    return book.charts(title, topic.unit, own.flat().map(curveOf));
  }
  return own.flatMap((list, at) =>
    book.charts(html`${title} · ${said(groups[at] ?? '')}`, topic.unit, list.map(curveOf)),
  );
}

/** The group, or the agent, that a curve is of. */
function ownerOf({ labels }: Series): string {
  return labels['group'] ?? labels['agent'] ?? '';
}

/** `devices.telemetry publish_time p99`. */
function curveOf({ metric, labels, values }: Series): Curve {
  const { group = labels['agent'] ?? '', stream, stat = '' } = labels;
  const who = stream === undefined ? group : `${group}.${stream}`;
  const percentile = stat === 'p50' || stat === 'p99' ? ` ${stat}` : '';
  return { name: `${who} ${metric}${percentile}`, values };
}

/**
 * Figures of a probe that have the same unit share a chart, but counters stand apart, as they only
 * grow, and so does each figure of which only the server knows the unit.
 */
function probeCharts({ timeline, probes }: Report, book: ChartBook): TimeChart[] {
  const charts: TimeChart[] = [];
  for (const [name, probe] of Object.entries(probes)) {
    const shared = new Map<string, { readonly unit: Unit; readonly curves: Curve[] }>();
    for (const { metric, labels, values } of timeline.series) {
      if (labels['probe'] !== name) continue;
      const figure = probe[metric];
      const { kind, unit } = isFigure(figure) ? figure : NO_FIGURE;
      const key = unit === null ? metric : `${kind} ${unit}`;
      const chart = shared.get(key) ?? { unit: unit ?? 'count', curves: [] };
      chart.curves.push({ name: metric, values });
      shared.set(key, chart);
    }
    for (const { unit, curves } of shared.values()) {
      const title = html`${said(name)} <span class="kind">${probe.type}</span>`;
      charts.push(...book.charts(title, unit, curves));
    }
  }
  return charts;
}

const NO_FIGURE = { kind: 'gauge', unit: null } as const;

type Figure = Extract<Report['probes'][string][string], { readonly kind: string }>;

export function isFigure(value: unknown): value is Figure {
  return typeof value === 'object' && value !== null && 'kind' in value && 'unit' in value;
}

/** Numbers the charts, and keeps their count within bounds. */
class ChartBook {
  readonly leftOut: string[] = [];
  #count = 0;

  charts(title: Html, unit: Unit, curves: readonly Curve[]): TimeChart[] {
    const charts: TimeChart[] = [];
    for (let at = 0; at < curves.length; at += MAX_CURVES) {
      const part = curves.slice(at, at + MAX_CURVES);
      if (this.#count >= MAX_CHARTS) {
        this.leftOut.push(...part.map(({ name }) => name));
        continue;
      }
      this.#count++;
      charts.push({ id: `chart-${this.#count}`, title, unit, curves: part });
    }
    return charts;
  }
}
