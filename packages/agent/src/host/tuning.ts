/**
 * The settings of a host that makes much load: those of the published load tests, to the digit. What
 * is better already is left as it is.
 */
export interface TuningSetting {
  /** As `sysctl` calls it. */
  readonly name: string;
  readonly values: readonly number[];
  /**
   * When a value found is as good: at least, at most, a range that holds the wanted one, or (of
   * `min default max`) a largest that is at least the wanted one.
   */
  readonly rule: 'at-least' | 'at-most' | 'holds' | 'largest';
  /** What it bounds, for whoever reads that it is too small. */
  readonly bounds: string;
}

export const TUNING: readonly TuningSetting[] = [
  atLeast('fs.file-max', 2_097_152, 'open files of the whole host'),
  atLeast('fs.nr_open', 2_097_152, 'how far a descriptor limit can be raised'),
  {
    name: 'net.ipv4.ip_local_port_range',
    values: [1_000, 65_535],
    rule: 'holds',
    bounds: 'connections from one source address to one broker address',
  },
  atLeast('net.core.somaxconn', 32_768, 'connections that wait to be accepted by a listener here'),
  atLeast('net.ipv4.tcp_max_syn_backlog', 16_384, 'half-open connections to a listener here'),
  atLeast('net.core.netdev_max_backlog', 16_384, 'packets that wait for the kernel, a core'),
  atLeast('net.core.rmem_default', 262_144, 'receive buffer of a socket, bytes'),
  atLeast('net.core.wmem_default', 262_144, 'send buffer of a socket, bytes'),
  atLeast('net.core.rmem_max', 16_777_216, 'largest receive buffer, bytes'),
  atLeast('net.core.wmem_max', 16_777_216, 'largest send buffer, bytes'),
  {
    name: 'net.ipv4.tcp_rmem',
    values: [1_024, 4_096, 16_777_216],
    rule: 'largest',
    bounds: 'receive buffer of a TCP socket: least, first, largest, bytes',
  },
  {
    name: 'net.ipv4.tcp_wmem',
    values: [1_024, 4_096, 16_777_216],
    rule: 'largest',
    bounds: 'send buffer of a TCP socket: least, first, largest, bytes',
  },
  atLeast('net.ipv4.tcp_max_tw_buckets', 1_048_576, 'closed connections in TIME_WAIT'),
  {
    name: 'net.ipv4.tcp_fin_timeout',
    values: [15],
    rule: 'at-most',
    bounds: 'seconds that a half-closed connection is kept',
  },
];

/** Open files that a process of such a host may hold. */
export const TUNED_DESCRIPTORS = 1_048_576;

/** Whether what was found is as good as what is wanted. */
export function isTuned({ values, rule }: TuningSetting, found: readonly number[]): boolean {
  const [first = 0] = found;
  const last = found.at(-1) ?? 0;
  const [wanted = 0] = values;
  switch (rule) {
    case 'at-least':
      return first >= wanted;
    case 'at-most':
      return first <= wanted;
    case 'holds':
      return first <= wanted && last >= (values.at(-1) ?? 0);
    case 'largest':
      return last >= (values.at(-1) ?? 0);
  }
}

function atLeast(name: string, value: number, bounds: string): TuningSetting {
  return { name, values: [value], rule: 'at-least', bounds };
}
