import { readFileSync } from 'node:fs';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { TUNING } from './tuning.ts';

/** Where the system's files are read from; another root stands in for another host. */
export interface HostRoots {
  readonly proc: string;
  readonly sys: string;
  readonly run: string;
}

const ROOTS: HostRoots = { proc: '/proc', sys: '/sys', run: '/run' };

/** What a host can give and how it is set. What it does not tell is null. */
export interface HostReading {
  readonly descriptors: {
    /** Of this process; Node has raised it to the hard limit at its start. */
    readonly soft: number | null;
    readonly hard: number | null;
    /** Whether this user may raise the hard limit (CAP_SYS_RESOURCE). */
    readonly raisable: boolean;
  };
  /** By `sysctl` name; null where this kernel, or this container, has no such setting. */
  readonly settings: ReadonlyMap<string, readonly number[] | null>;
  /** Connections that the firewall's tracking holds at most; null where it is not loaded. */
  readonly trackedConnections: number | null;
  readonly memoryBytes: number;
  readonly memoryAvailableBytes: number;
  readonly cores: number;
  /** Cores that the control group allows, where it allows fewer. */
  readonly coresQuota: number | null;
  readonly clockSource: string | null;
  /** Whether the wall clock is kept in time by others, as far as anybody here tells. */
  readonly clockSynchronised: boolean | null;
}

/** Reads the host. Nothing is started for it and nothing is changed. */
export function readHost(roots: Partial<HostRoots> = {}): HostReading {
  const { proc, sys, run } = { ...ROOTS, ...roots };
  return {
    descriptors: readDescriptors(proc),
    settings: new Map(TUNING.map(({ name }) => [name, readSetting(proc, name)])),
    trackedConnections: readSetting(proc, 'net.netfilter.nf_conntrack_max')?.[0] ?? null,
    memoryBytes: usableMemoryBytes(),
    memoryAvailableBytes: Math.min(freemem(), usableMemoryBytes()),
    cores: availableParallelism(),
    coresQuota: readQuota(sys),
    clockSource:
      readText(`${sys}/devices/system/clocksource/clocksource0/current_clocksource`)?.trim() ??
      null,
    clockSynchronised: readSynchronised(run),
  };
}

/** The host's memory, or the container's where that is smaller. */
function usableMemoryBytes(): number {
  const constrained = process.constrainedMemory() ?? 0;
  const total = totalmem();
  return constrained > 0 && constrained < total ? constrained : total;
}

const CAP_SYS_RESOURCE = 24n;

function readDescriptors(proc: string): HostReading['descriptors'] {
  const limits = /^Max open files\s+(\S+)\s+(\S+)/m.exec(readText(`${proc}/self/limits`) ?? '');
  const capabilities = /^CapEff:\s*([0-9a-f]+)/m.exec(readText(`${proc}/self/status`) ?? '')?.[1];
  const raisable = ((BigInt(`0x${capabilities ?? '0'}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
  return { soft: limitOf(limits?.[1]), hard: limitOf(limits?.[2]), raisable };
}

function limitOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  return text === 'unlimited' ? 2 ** 31 - 1 : Number(text);
}

function readSetting(proc: string, name: string): readonly number[] | null {
  const text = readText(`${proc}/sys/${name.replaceAll('.', '/')}`)?.trim();
  return text === undefined || text === '' ? null : text.split(/\s+/).map(Number);
}

/** Cores by the control group's time share, second hierarchy or first. */
function readQuota(sys: string): number | null {
  const second = readText(`${sys}/fs/cgroup/cpu.max`)?.match(/^(\d+) (\d+)/);
  if (second) return Number(second[1]) / Number(second[2]);
  const quotaUs = Number(readText(`${sys}/fs/cgroup/cpu/cpu.cfs_quota_us`) ?? -1);
  const periodUs = Number(readText(`${sys}/fs/cgroup/cpu/cpu.cfs_period_us`) ?? 0);
  return quotaUs > 0 && periodUs > 0 ? quotaUs / periodUs : null;
}

/** The file by which the usual keeper of time tells that it has it; others have to be asked. */
function readSynchronised(run: string): boolean | null {
  return readText(`${run}/systemd/timesync/synchronized`) === undefined ? null : true;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
