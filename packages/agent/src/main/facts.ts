import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, hostname } from 'node:os';
import type { AgentFacts } from '@squall/core/control';
import { SquallError } from '@squall/core/errors';
import { descriptorsOf, portsOf } from '../host/carry.ts';
import { clockDomain } from '../host/clock-domain.ts';
import { readHost } from '../host/host-reading.ts';
import { LIMITS } from './limits.ts';
import type { AgentOptions } from './options.ts';

/** Where the system's files are read from; another root stands in for a host without /proc. */
const PROC = '/proc';

const MAX_ID_LENGTH = 100;

/**
 * What this host and process can give, as told to the controller in `hello`. Works without /proc, with
 * careful assumptions in place of what cannot be read there.
 * @throws SquallError SQ_USAGE for an id or a number of workers that cannot be.
 */
export function gatherFacts(
  options: Pick<AgentOptions, 'id' | 'workers' | 'labels' | 'observe'>,
  proc = PROC,
): AgentFacts {
  const cores = availableParallelism();
  const host = readHost({ proc });
  const descriptorLimit = descriptorsOf(host);
  return {
    id: checkedId(options.id ?? `${hostname().slice(0, 80)}-${process.pid}`),
    host: hostname().slice(0, 256),
    pid: process.pid,
    version: ownVersion(),
    cores,
    workers: checkedWorkers(options.workers ?? cores),
    memoryBytes: host.memoryBytes,
    descriptorLimit,
    descriptorsFree: Math.max(
      0,
      descriptorLimit - Math.max(usedDescriptors(proc), LIMITS.workerDescriptors),
    ),
    ports: portsOf(host),
    clockDomain: clockDomain(proc),
    labels: { ...options.labels },
    ...(options.observe === true ? { observes: true as const } : {}),
  };
}

function checkedId(id: string): string {
  if (id.length >= 1 && id.length <= MAX_ID_LENGTH) return id;
  throw new SquallError('SQ_USAGE', `an agent id has 1 to ${MAX_ID_LENGTH} characters`, {
    hint: 'choose a short name with --id',
  });
}

function checkedWorkers(workers: number): number {
  if (Number.isInteger(workers) && workers >= 1) return workers;
  throw new SquallError('SQ_USAGE', `an agent needs at least one worker, not ${workers}`, {
    hint: 'leave --workers away for one worker a core',
  });
}

function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}

function usedDescriptors(proc: string): number {
  try {
    return readdirSync(`${proc}/self/fd`).length;
  } catch {
    return 0;
  }
}
