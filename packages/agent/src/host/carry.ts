import type { HostFinding } from './finding.ts';
import type { HostReading } from './host-reading.ts';
import type { PortNeed, ShareNeeds } from './share-needs.ts';
import { TUNED_DESCRIPTORS } from './tuning.ts';
import { LIMITS } from '../main/limits.ts';

/** POSIX's smallest promise for open files, assumed where the system does not say. */
const DESCRIPTORS_UNKNOWN = 1_024;
/** IANA's range for dynamic ports, assumed where the system does not say. */
const PORTS_UNKNOWN = 16_384;
/** Of a core, for a QoS 1 message sent and acknowledged, in measured loads; for an estimate only. */
const MESSAGE_CPU_US = 15;
/** A load generator that is busier than this makes its own latency. */
const BUSY_SHARE = 0.7;

export function descriptorsOf(host: HostReading): number {
  return host.descriptors.soft ?? DESCRIPTORS_UNKNOWN;
}

/** Local ports that one pair of source and broker address has. */
export function portsOf(host: HostReading): number {
  const [from, to] = host.settings.get('net.ipv4.ip_local_port_range') ?? [];
  return from === undefined || to === undefined ? PORTS_UNKNOWN : to - from + 1;
}

/**
 * Whether a host can carry shares of a plan: what decides over `ready` or `refused`. Only caps; it
 * never changes the split.
 */
export function carryFindings(host: HostReading, needs: ShareNeeds): HostFinding[] {
  return [
    descriptors(host, needs),
    hostFiles(host, needs),
    ...ports(host, needs.ports),
    tracking(host, needs),
    memory(host, needs),
    cores(host, needs),
  ].filter((found) => found !== null);
}

function descriptors(host: HostReading, needs: ShareNeeds): HostFinding {
  const { soft, hard, raisable } = host.descriptors;
  const limit = descriptorsOf(host);
  const { most, worker, sum } = needs.descriptors;
  const atHard = hard !== null && hard === soft;
  const told = soft === null ? 'the system does not say; 1,024 assumed' : show(limit);
  const found = {
    check: 'descriptors',
    is: `${told} file descriptors a process${atHard ? ' (soft and hard limit)' : ''}`,
    needs: `${show(most)} in worker ${worker}, for ${show(most - LIMITS.workerDescriptors)} clients`,
  };
  if (most <= limit) return { ...found, state: 'ok', why: '', mend: [] };
  const usable = Math.max(1, limit - LIMITS.workerDescriptors);
  const workers = Math.ceil((sum - needs.workers * LIMITS.workerDescriptors) / usable);
  const spread = `--workers ${workers} of each agent, or more agents`;
  return {
    ...found,
    state: 'fail',
    why: raisable
      ? 'The limit has to be raised before the agent is started, or the clients spread'
      : 'This user cannot raise the hard limit (CAP_SYS_RESOURCE is missing): it is set where the login, service or container is defined; or the clients are spread',
    mend: [
      ...(raisable ? [raise(host, most)] : limitDefinitions(Math.max(most, TUNED_DESCRIPTORS))),
      spread,
    ],
  };
}

/** A hard limit goes no further than `fs.nr_open`. */
function raise(host: HostReading, most: number): string {
  const value = Math.max(most, TUNED_DESCRIPTORS);
  const ceiling = host.settings.get('fs.nr_open')?.[0] ?? value;
  const before = value <= ceiling ? '' : `sysctl -w fs.nr_open=${value} && `;
  return `${before}ulimit -n ${value}`;
}

/** Where a hard limit comes from, for those who may not raise their own. */
export function limitDefinitions(value: number): string[] {
  return [
    `/etc/security/limits.d: * hard nofile ${value}`,
    `systemd: LimitNOFILE=${value}`,
    `docker run --ulimit nofile=${value}:${value}`,
  ];
}

function hostFiles(host: HostReading, needs: ShareNeeds): HostFinding | null {
  const most = host.settings.get('fs.file-max')?.[0];
  if (most === undefined || needs.descriptors.sum <= most) return null;
  return {
    check: 'fs.file-max',
    state: 'fail',
    is: `${show(most)} open files of the whole host`,
    needs: `${show(needs.descriptors.sum)} for ${show(needs.clients)} clients`,
    why: 'Further connections would be refused by the kernel',
    mend: ['sysctl -w fs.file-max=2097152'],
  };
}

/** The pair that is asked most, and each further one that does not fit. */
function ports(host: HostReading, needs: readonly PortNeed[]): HostFinding[] {
  const each = portsOf(host);
  const shown = needs.filter(({ clients }, index) => index === 0 || clients > each);
  return shown.map(({ address, source, clients }) => ({
    check: 'ports',
    state: clients <= each ? ('ok' as const) : ('fail' as const),
    is:
      address === null
        ? `${show(each)} local ports of ${source}`
        : `${show(each)} local ports from one source address to ${address}`,
    needs: `${show(clients)}, one a client`,
    why: clients <= each ? '' : 'A connection needs a port of its own; the others would fail',
    mend:
      clients <= each
        ? []
        : [
            'sysctl -w net.ipv4.ip_local_port_range="1000 65535"',
            ...(address === null
              ? ['more sourceAddresses of this host, in the plan']
              : [
                  `sourceAddresses with ${Math.ceil(clients / each)} addresses of this host, in the plan`,
                  'more urls of the target',
                ]),
            'more agents on other hosts',
          ],
  }));
}

function tracking(host: HostReading, needs: ShareNeeds): HostFinding | null {
  const most = host.trackedConnections;
  if (most === null || needs.clients <= most) return null;
  const wanted = 2 ** Math.ceil(Math.log2(2 * needs.clients));
  return {
    check: 'net.netfilter.nf_conntrack_max',
    state: 'warn',
    is: `${show(most)} connections that the firewall tracks`,
    needs: show(needs.clients),
    why: 'Where a rule of this host tracks connections, packets of further ones are dropped',
    mend: [`sysctl -w net.netfilter.nf_conntrack_max=${wanted}`],
  };
}

function memory(host: HostReading, needs: ShareNeeds): HostFinding {
  const fits = needs.memoryBytes <= host.memoryAvailableBytes;
  return {
    check: 'memory',
    state: fits ? 'ok' : 'fail',
    is: `${mebibytes(host.memoryAvailableBytes)} of ${mebibytes(host.memoryBytes)} are free`,
    needs:
      `about ${mebibytes(needs.memoryBytes)} for ${show(needs.workers)} workers ` +
      `with ${show(needs.clients)} clients`,
    why: fits ? '' : 'The kernel would end a worker in the middle of the run',
    mend: fits ? [] : ['squall agent on more hosts', 'free some, or give the container more of it'],
  };
}

function cores(host: HostReading, needs: ShareNeeds): HostFinding {
  const there = Math.min(host.cores, host.coresQuota ?? host.cores);
  const of =
    host.coresQuota === null ? '' : ` (${host.cores} seen, the control group allows fewer)`;
  const is = `${round(there)} cores${of}, ${show(needs.workers)} workers`;
  const load = needs.publishPerS;
  if (load === null) {
    return coresFinding({ is, needs: 'as many as the broker takes: the load is unpaced' });
  }
  if (load === 0) return coresFinding({ is, needs: 'few: nothing is published' });
  const wanted = (load * MESSAGE_CPU_US) / 1e6 / BUSY_SHARE;
  const text = `about ${round(wanted)} for ${show(Math.round(load))} messages a second sent`;
  if (wanted > there) {
    return coresFinding({
      is,
      needs: text,
      state: 'warn',
      why: 'Messages would go out late, and the run would tell so; receiving costs as much again',
      mend: ['squall agent on more hosts'],
    });
  }
  if (needs.workers > Math.max(1, there)) {
    return coresFinding({
      is,
      needs: text,
      state: 'warn',
      why: 'More workers than cores take time from each other; for more descriptors that may be worth it',
    });
  }
  return coresFinding({ is, needs: text });
}

function coresFinding(
  given: Pick<HostFinding, 'is' | 'needs'> & Partial<HostFinding>,
): HostFinding {
  return { check: 'cores', state: 'ok', why: '', mend: [], ...given };
}

export function show(count: number): string {
  return count.toLocaleString('en-US');
}

function round(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

function mebibytes(bytes: number): string {
  return `${show(Math.ceil(bytes / 1_048_576))} MiB`;
}
