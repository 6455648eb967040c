import type { AgentShare, ClientRange } from '@squall/core/partition';
import type { Group, MqttTarget, Pace, Plan } from '@squall/core/plan';
import { LIMITS } from '../main/limits.ts';

/** What shares of a plan, all on one host, need of it. */
export interface ShareNeeds {
  readonly workers: number;
  readonly clients: number;
  /** Descriptors of the worker that needs most of them, and which one that is. */
  readonly descriptors: { readonly most: number; readonly worker: number; readonly sum: number };
  /** Local ports from one source address to one broker address, the most asked first. */
  readonly ports: readonly PortNeed[];
  readonly memoryBytes: number;
  /** Messages that are planned a second at the busiest stage; null: as many as will go. */
  readonly publishPerS: number | null;
}

export interface PortNeed {
  /** `host:port` of the broker; null: of all brokers together. */
  readonly address: string | null;
  /** Null: the system chooses. */
  readonly source: string | null;
  readonly clients: number;
}

/** @param shares of the agents on this host: their workers share its ports and its memory. */
export function shareNeeds(plan: Plan, shares: readonly AgentShare[]): ShareNeeds {
  const workers = shares.flatMap((share) => share.workers);
  const counts = workers.map(({ groups }) => clientsOf(groups));
  const needs = counts.map((clients) => clients + LIMITS.workerDescriptors);
  const most = Math.max(0, ...needs);
  const clients = counts.reduce((a, b) => a + b, 0);
  return {
    workers: workers.length,
    clients,
    descriptors: { most, worker: needs.indexOf(most), sum: needs.reduce((a, b) => a + b, 0) },
    ports: portNeeds(plan, shares),
    memoryBytes: workers.length * LIMITS.workerMemoryBytes + clientMemory(plan, shares),
    publishPerS: publishPerS(plan, shares),
  };
}

function clientMemory(plan: Plan, shares: readonly AgentShare[]): number {
  return plan.groups.reduce((sum, group, index) => {
    const target = plan.targets[group.target];
    const secured =
      target?.protocol === 'mqtt' &&
      target.urls.some(({ scheme }) => scheme === 'mqtts' || scheme === 'wss');
    const each = secured ? LIMITS.tlsClientMemoryBytes : LIMITS.clientMemoryBytes;
    return sum + each * clientsOf(rangesOf(shares, index));
  }, 0);
}

/**
 * A pair of addresses has each local port once, whichever process of the host uses it. Which
 * clients go to which address follows the target's `spread`; source addresses go round among the
 * clients of an address. A source address that is named takes its port before the kernel knows
 * where the connection goes, so it has each port once for all brokers.
 */
function portNeeds(plan: Plan, shares: readonly AgentShare[]): PortNeed[] {
  const counts = new Map<string, PortNeed>();
  plan.groups.forEach((group, index) => {
    const target = plan.targets[group.target];
    // Clients of RocketMQ share their sockets.
    if (target?.protocol !== 'mqtt') return;
    const sources = group.sourceAddresses.length === 0 ? [null] : group.sourceAddresses;
    for (const range of rangesOf(shares, index)) {
      target.urls.forEach(({ host, port }, url) => {
        const clients = clientsAtUrl(range, { url, target, group });
        sources.forEach((source, at) => {
          const address = source === null ? `${host}:${port}` : null;
          const key = `${source} ${address}`;
          const known = counts.get(key)?.clients ?? 0;
          const part = evenPart(clients, at, sources.length);
          counts.set(key, { address, source, clients: known + part });
        });
      });
    }
  });
  return [...counts.values()].toSorted((a, b) => b.clients - a.clients);
}

interface UrlPlace {
  readonly url: number;
  readonly target: MqttTarget;
  readonly group: Group;
}

/** Clients of the range that talk to the address with this index. */
function clientsAtUrl(range: ClientRange, { url, target, group }: UrlPlace): number {
  if (range.clients === 0) return 0;
  const urls = target.urls.length;
  switch (target.spread) {
    case 'round-robin': {
      // How many n of the range have n mod urls = url.
      const below = (end: number) => Math.floor((end - url + urls - 1) / urls);
      return below(range.last + 1) - below(range.first);
    }
    case 'blocks': {
      const sizes = Array.from({ length: urls }, (_, k) => evenPart(group.clients, k, urls));
      const first = sizes.slice(0, url).reduce((a, b) => a + b, 0);
      const last = first + (sizes[url] ?? 0) - 1;
      return Math.max(0, Math.min(range.last, last) - Math.max(range.first, first) + 1);
    }
    case 'first':
      return url === 0 ? range.clients : 0;
  }
}

/** Part `k` of `parts` of `total`: equal ones, the first ones larger by one. */
function evenPart(total: number, k: number, parts: number): number {
  return Math.floor(total / parts) + (k < total % parts ? 1 : 0);
}

function publishPerS(plan: Plan, shares: readonly AgentShare[]): number | null {
  const rates = plan.stages.map((stage) =>
    stage.run.reduce((sum, work) => {
      const total = plan.groups[work.group]?.clients ?? 0;
      const part = total === 0 ? 0 : clientsOf(rangesOf(shares, work.group)) / total;
      const paces = work.activities.flatMap((one) => (one.kind === 'publish' ? [one.pace] : []));
      return sum + part * paces.reduce((rate, pace) => rate + peakPerS(pace, total), 0);
    }, 0),
  );
  const most = Math.max(0, ...rates);
  return Number.isFinite(most) ? most : null;
}

/** The highest rate of a pace over `clients`, a second; Infinity where nothing paces it. */
function peakPerS(pace: Pace, clients: number): number {
  switch (pace.kind) {
    case 'every':
      return (clients * 1_000_000) / pace.everyUs;
    case 'rate':
      return pace.perS;
    case 'ramp':
      return Math.max(pace.fromPerS, pace.toPerS);
    case 'steps':
      return Math.max(0, ...pace.steps.map(({ perS }) => perS));
    case 'spike':
      return Math.max(pace.basePerS, pace.peakPerS);
    case 'max':
      return Number.POSITIVE_INFINITY;
  }
}

function rangesOf(shares: readonly AgentShare[], group: number): ClientRange[] {
  return shares.flatMap(({ workers }) =>
    workers.flatMap(({ groups }) => {
      const range = groups[group];
      return range === undefined ? [] : [range];
    }),
  );
}

function clientsOf(ranges: readonly ClientRange[]): number {
  return ranges.reduce((sum, { clients }) => sum + clients, 0);
}
