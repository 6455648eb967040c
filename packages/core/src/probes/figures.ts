import type { ProbeSource } from '../plan/plan.ts';

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
  load_per_core: gauge,
  memory_used: size,
  memory_used_share: share,
  net_in: flow,
  net_out: flow,
  disk_read: flow,
  disk_written: flow,
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
      return Object.fromEntries(
        Object.keys(source.series).map((name) => [name, { kind: 'gauge', unit: null }]),
      );
  }
}
