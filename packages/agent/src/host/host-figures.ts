import { readFileSync } from 'node:fs';

/** What is no card of the host: its traffic is counted by one, or never leaves the host. */
const NO_CARD = /^(?:lo$|docker|veth|br-|virbr|cni|flannel|cali|ifb|tun|tap|bond|team|.*\.\d+$)/;
const NO_DISK = /^(?:loop|ram|dm-|md|sr|fd)/;
/** A partition is counted with its disk. */
const PARTITION = /^(?:(?:sd|vd|xvd|hd)[a-z]+\d+|(?:nvme\d+n\d+|mmcblk\d+)p\d+)$/;
/** /proc/diskstats counts in these, whatever the disk has. */
const SECTOR_BYTES = 512;
/** Read so often at most: an agent that has nothing to do costs next to nothing. */
const HOST_INTERVAL_US = 5_000_000;

/** What only grows; shares and rates are differences of two. */
interface Counters {
  readonly atUs: number;
  /** user (nice left out), nice, system, idle, iowait, irq, softirq, steal; in ticks. */
  readonly cpu: readonly number[];
  readonly netIn: number;
  readonly netOut: number;
  readonly diskRead: number;
  readonly diskWritten: number;
  readonly segmentsOut: number;
  readonly segmentsAgain: number;
}

/**
 * The figures of this host from /proc, by the names that the probe of a node_exporter has: shares of the
 * CPU time, load, memory, network without the loopback, disks, segments sent again. Shares and rates are
 * those since the reading before.
 */
export class HostFigures {
  readonly #proc: string;
  #before: Counters | null = null;

  /** `proc`: another root stands in for another host. */
  constructor(proc = '/proc') {
    this.#proc = proc;
  }

  /**
   * Null where the last reading is too young, for the first one, and where there is no /proc.
   * `nowUs`: of the monotonic clock.
   */
  sample(nowUs: number): Record<string, number> | null {
    const before = this.#before;
    if (before !== null && nowUs - before.atUs < HOST_INTERVAL_US) return null;
    const stat = this.#text('stat');
    if (stat === null) return null;
    const now = this.#counters(stat, nowUs);
    this.#before = now;
    if (before === null) return null;
    return { ...since(before, now), ...this.#load(coresIn(stat)), ...this.#memory() };
  }

  #counters(stat: string, atUs: number): Counters {
    const net = this.#text('net/dev') ?? '';
    const disks = this.#text('diskstats') ?? '';
    const tcp = tcpOf(this.#text('net/snmp') ?? '');
    return {
      atUs,
      cpu: (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '').split(' ').map(Number),
      ...trafficOf(net),
      ...transferOf(disks),
      segmentsOut: tcp.get('OutSegs') ?? 0,
      segmentsAgain: tcp.get('RetransSegs') ?? 0,
    };
  }

  #load(cores: number): Record<string, number> {
    const load = Number.parseFloat(this.#text('loadavg') ?? '');
    if (!Number.isFinite(load) || cores === 0) return {};
    return { load, load_per_core: load / cores };
  }

  #memory(): Record<string, number> {
    const text = this.#text('meminfo') ?? '';
    const bytes = (name: string) =>
      Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
    const total = bytes('MemTotal');
    const used = total - bytes('MemAvailable');
    return used >= 0 ? { memory_used: used, memory_used_share: used / total } : {};
  }

  #text(file: string): string | null {
    try {
      return readFileSync(`${this.#proc}/${file}`, 'utf8');
    } catch {
      return null;
    }
  }
}

function coresIn(stat: string): number {
  return stat.match(/^cpu\d+ /gm)?.length ?? 0;
}

function since(before: Counters, now: Counters): Record<string, number> {
  const seconds = (now.atUs - before.atUs) / 1_000_000;
  const flows: Record<string, number> = {
    net_in: now.netIn - before.netIn,
    net_out: now.netOut - before.netOut,
    disk_read: now.diskRead - before.diskRead,
    disk_written: now.diskWritten - before.diskWritten,
  };
  const figures = sharesOf(before.cpu, now.cpu);
  for (const [name, grown] of Object.entries(flows)) {
    // A card that was taken away took its count with it.
    if (grown >= 0) figures[name] = grown / seconds;
  }
  const out = now.segmentsOut - before.segmentsOut;
  const again = now.segmentsAgain - before.segmentsAgain;
  if (out >= 0 && again >= 0) figures['tcp_retransmits'] = out === 0 ? 0 : Math.min(1, again / out);
  return figures;
}

/** Of the first eight fields; what guests use is in user already [proc_stat(5)]. */
function sharesOf(before: readonly number[], now: readonly number[]): Record<string, number> {
  const spent = now.slice(0, 8).map((ticks, place) => Math.max(0, ticks - (before[place] ?? 0)));
  const [user = 0, , system = 0, idle = 0, iowait = 0, , , steal = 0] = spent;
  const all = spent.reduce((sum, one) => sum + one, 0);
  if (all === 0) return {};
  return {
    cpu_user: user / all,
    cpu_system: system / all,
    cpu_iowait: iowait / all,
    cpu_idle: idle / all,
    cpu_steal: steal / all,
    // Waiting for a disk is part of "not busy".
    cpu_used: 1 - (idle + iowait) / all,
  };
}

function trafficOf(text: string): { netIn: number; netOut: number } {
  let netIn = 0;
  let netOut = 0;
  for (const line of text.split('\n')) {
    const [, name, rest] = /^\s*([^\s:]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || NO_CARD.test(name)) continue;
    const fields = (rest ?? '').split(/\s+/).map(Number);
    netIn += fields[0] ?? 0;
    netOut += fields[8] ?? 0;
  }
  return { netIn, netOut };
}

function transferOf(text: string): { diskRead: number; diskWritten: number } {
  let read = 0;
  let written = 0;
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    const name = fields[2];
    if (name === undefined || NO_DISK.test(name) || PARTITION.test(name)) continue;
    read += Number(fields[5]);
    written += Number(fields[9]);
  }
  return { diskRead: read * SECTOR_BYTES, diskWritten: written * SECTOR_BYTES };
}

/** Two lines, names and values. */
function tcpOf(text: string): Map<string, number> {
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' ').slice(1));
  return new Map(names.map((name, place) => [name, Number(values[place])]));
}
