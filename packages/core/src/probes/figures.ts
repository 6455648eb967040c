import type { ProbeSource, PrometheusProbeSource } from '../plan/probe-spec.ts';
import { PRESETS } from './presets.ts';
import { countsUp, parseSelector } from './selector.ts';
import {
  EMQX_FIGURES,
  MOSQUITTO_FIGURES,
  RABBITMQ_FIGURES,
  rocketmqFigures,
} from './server-figures.ts';

/** Shares from 0 to 1, times in seconds, sizes in bytes. */
export type FigureUnit =
  | 'count'
  | 'bytes'
  | 'seconds'
  | 'share'
  | 'per_second'
  | 'bytes_per_second';

export interface FigureInfo {
  /** `counter`: counts up from a start of its own. `gauge`: how much there is now. */
  readonly kind: 'counter' | 'gauge';
  /** Null: only the server knows. */
  readonly unit: FigureUnit | null;
}

/** The name of the figure of a probe that has only one: in plans it is left out. */
export const ONLY_FIGURE = 'value';

const counter = { kind: 'counter', unit: 'count' } as const;
const gauge = { kind: 'gauge', unit: 'count' } as const;
const share = { kind: 'gauge', unit: 'share' } as const;
const size = { kind: 'gauge', unit: 'bytes' } as const;
const flow = { kind: 'gauge', unit: 'bytes_per_second' } as const;

const NGINX: Readonly<Record<string, FigureInfo>> = {
  requests: counter,
  accepted: counter,
  handled: counter,
  active: gauge,
  reading: gauge,
  writing: gauge,
  waiting: gauge,
};

const NODE: Readonly<Record<string, FigureInfo>> = {
  cpu_user: share,
  cpu_system: share,
  cpu_iowait: share,
  cpu_idle: share,
  cpu_steal: share,
  cpu_used: share,
  load: gauge,
  load_per_core: gauge,
  memory_used: size,
  memory_used_share: share,
  net_in: flow,
  net_out: flow,
  disk_read: flow,
  disk_written: flow,
};

/** Those of `node`, and how many segments of TCP had to be sent again. */
export const HOST: Readonly<Record<string, FigureInfo>> = { ...NODE, tcp_retransmits: share };

const time = { kind: 'gauge', unit: 'seconds' } as const;

/** Times are from the moment that a message was due to its arrival at the hook. */
const HOOK: Readonly<Record<string, FigureInfo>> = {
  requests: counter,
  refused: counter,
  bytes: { kind: 'counter', unit: 'bytes' },
  bad_bodies: counter,
  messages: counter,
  unique: counter,
  duplicated: counter,
  corrupted: counter,
  foreign: counter,
  untracked: counter,
  forgotten: counter,
  untimed: counter,
  lost: gauge,
  hook_latency_mean: time,
  hook_latency_p50: time,
  hook_latency_p90: time,
  hook_latency_p95: time,
  hook_latency_p99: time,
  hook_latency_p999: time,
  hook_latency_max: time,
};

/** The figures that a probe of this source has. */
export function figuresOf(source: ProbeSource): Readonly<Record<string, FigureInfo>> {
  switch (source.type) {
    case 'mysql':
    case 'postgres':
      return { [ONLY_FIGURE]: counter };
    case 'nginx':
      return NGINX;
    case 'node':
      return NODE;
    case 'http':
      return Object.fromEntries(
        Object.keys(source.values).map((name) => {
          const kind = source.counters.includes(name) ? 'counter' : 'gauge';
          return [name, { kind, unit: null }];
        }),
      );
    case 'prometheus':
      return { ...presetFigures(source), ...seriesFigures(source) };
    case 'emqx':
      return EMQX_FIGURES;
    case 'mosquitto':
      return MOSQUITTO_FIGURES;
    case 'rabbitmq':
      return RABBITMQ_FIGURES;
    case 'rocketmq':
      return rocketmqFigures(source);
    case 'webhook':
      return HOOK;
    case 'host':
      return HOST;
  }
}

function presetFigures({ preset }: PrometheusProbeSource): Readonly<Record<string, FigureInfo>> {
  if (preset === null) return {};
  return preset === 'node' ? NODE : PRESETS[preset];
}

function seriesFigures({ series, counters }: PrometheusProbeSource): Record<string, FigureInfo> {
  const entries = Object.entries(series).map(([figure, text]): [string, FigureInfo] => {
    const selector = parseSelector(text);
    if (selector?.isRate === true) return [figure, { kind: 'gauge', unit: null }];
    const isCounter = counters.includes(figure) || countsUp(selector?.name ?? '');
    return [figure, { kind: isCounter ? 'counter' : 'gauge', unit: null }];
  });
  return Object.fromEntries(entries);
}
