import type { HostReading } from '../../src/host/host-reading.ts';

const GIBIBYTE = 1024 ** 3;

/** A host as a fresh installation is, with the limit of open files of a strict container. */
export function host(change: Partial<HostReading> & { ports?: number } = {}): HostReading {
  const { ports = 28_232, ...rest } = change;
  return {
    descriptors: { soft: 20_000, hard: 20_000, raisable: false },
    settings: new Map([
      ['fs.file-max', [2_466_170]],
      ['fs.nr_open', [1_048_576]],
      ['net.ipv4.ip_local_port_range', [32_768, 32_767 + ports]],
      ['net.core.somaxconn', [4_096]],
      ['net.ipv4.tcp_max_syn_backlog', [2_048]],
      ['net.core.netdev_max_backlog', [1_000]],
      ['net.core.rmem_default', [212_992]],
      ['net.core.wmem_default', [212_992]],
      ['net.core.rmem_max', [4_194_304]],
      ['net.core.wmem_max', [4_194_304]],
      ['net.ipv4.tcp_rmem', [4_096, 131_072, 33_554_432]],
      ['net.ipv4.tcp_wmem', [4_096, 16_384, 4_194_304]],
      ['net.ipv4.tcp_max_tw_buckets', [131_072]],
      ['net.ipv4.tcp_fin_timeout', [60]],
    ]),
    trackedConnections: null,
    memoryBytes: 24 * GIBIBYTE,
    memoryAvailableBytes: 8 * GIBIBYTE,
    cores: 2,
    coresQuota: null,
    clockSource: 'tsc',
    clockSynchronised: true,
    ...rest,
  };
}
