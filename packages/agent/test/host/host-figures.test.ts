import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HOST } from '@squall/core/probes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HostFigures } from '../../src/host/host-figures.ts';

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(path.join(tmpdir(), 'squall-proc-'));
  mkdirSync(path.join(proc, 'net'));
});
afterEach(() => rmSync(proc, { recursive: true }));

interface Host {
  readonly cpu: string;
  readonly eth0: readonly [received: number, sent: number];
  readonly sectors: readonly [read: number, written: number];
  readonly segments: readonly [out: number, again: number];
}

function plant({ cpu, eth0, sectors, segments }: Host): void {
  const files = {
    stat: `cpu  ${cpu}\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5 0 0\nctxt 7\n`,
    loadavg: '3.00 2.00 1.00 2/300 4711\n',
    meminfo: 'MemTotal:        1000 kB\nMemFree:          100 kB\nMemAvailable:     750 kB\n',
    'net/dev': `Inter-|   Receive                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 99999 9 0 0 0 0 0 0 99999 9 0 0 0 0 0 0
  eth0: ${eth0[0]} 1 0 0 0 0 0 0 ${eth0[1]} 1 0 0 0 0 0 0
docker0: 77777 1 0 0 0 0 0 0 77777 1 0 0 0 0 0 0
`,
    diskstats: `   7       0 loop0 9 0 9999 0 9 0 9999 0 0 0 0
 259       0 nvme0n1 1 0 ${sectors[0]} 0 1 0 ${sectors[1]} 0 0 0 0
 259       1 nvme0n1p1 1 0 ${sectors[0]} 0 1 0 ${sectors[1]} 0 0 0 0
`,
    'net/snmp': `Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm MaxConn OutSegs RetransSegs InErrs
Tcp: 1 -1 ${segments[0]} ${segments[1]} 0
`,
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(proc, file), text);
}

const BEFORE: Host = {
  cpu: '100 10 50 800 20 5 5 10 3 0',
  eth0: [1_000, 2_000],
  sectors: [10, 20],
  segments: [100, 1],
};

describe('the figures of a host', () => {
  test('are shares and rates between two readings, and what there is at the second', () => {
    const host = new HostFigures(proc);
    plant(BEFORE);
    expect(host.sample(1_000_000)).toBeNull();
    plant({
      cpu: '150 10 70 815 25 5 10 15 3 0',
      eth0: [11_000, 52_000],
      sectors: [110, 220],
      segments: [300, 11],
    });
    expect(host.sample(11_000_000)).toEqual({
      cpu_user: 0.5,
      cpu_system: 0.2,
      cpu_iowait: 0.05,
      cpu_idle: 0.15,
      cpu_steal: 0.05,
      cpu_used: 0.8,
      load: 3,
      load_per_core: 1.5,
      memory_used: 250 * 1024,
      memory_used_share: 0.25,
      net_in: 1_000,
      net_out: 5_000,
      disk_read: 5_120,
      disk_written: 10_240,
      tcp_retransmits: 0.05,
    });
  });

  test('are read every five seconds at most', () => {
    const host = new HostFigures(proc);
    plant(BEFORE);
    expect(host.sample(0)).toBeNull();
    plant({ ...BEFORE, cpu: '200 10 50 900 20 5 5 10 3 0' });
    expect(host.sample(4_999_999)).toBeNull();
    expect(host.sample(5_000_000)).toMatchObject({ cpu_user: 0.5, tcp_retransmits: 0 });
  });

  test('leave out what went down with a card that was taken away', () => {
    const host = new HostFigures(proc);
    plant(BEFORE);
    host.sample(0);
    plant({ ...BEFORE, cpu: '200 10 50 900 20 5 5 10 3 0', eth0: [0, 3_000] });
    const figures = host.sample(10_000_000);
    expect(figures).toMatchObject({ net_out: 100 });
    expect(figures).not.toHaveProperty('net_in');
  });

  test('are none where there is no /proc', () => {
    const host = new HostFigures(path.join(proc, 'nothing'));
    expect([host.sample(0), host.sample(10_000_000)]).toEqual([null, null]);
  });

  test.skipIf(!existsSync('/proc/stat'))('are all there on a real host', () => {
    const host = new HostFigures();
    host.sample(0);
    // The time between is pretended; ticks pass while this spins.
    const until = performance.now() + 30;
    while (performance.now() < until);
    const figures = host.sample(10_000_000) ?? {};
    expect(Object.keys(HOST)).toEqual(expect.arrayContaining(Object.keys(figures)));
    expect(figures).toMatchObject({ memory_used: expect.any(Number), load: expect.any(Number) });
    expect(figures['cpu_used']).toBeGreaterThanOrEqual(0);
    expect(figures['memory_used_share']).toBeLessThan(1);
  });
});
