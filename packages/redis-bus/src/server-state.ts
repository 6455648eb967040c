import type { RedisAddress } from './address.ts';
import type { Connection } from './connection.ts';
import { busError } from './failure.ts';
import type { RedisLimits } from './limits.ts';

/** What a server says about itself, as far as it matters to a bus. Null: it does not say. */
export interface ServerState {
  readonly version: string | null;
  /** New with each start of the server process. */
  readonly runId: string | null;
  readonly role: string | null;
  readonly mode: string | null;
  readonly policy: string | null;
  readonly usedBytes: number | null;
  /** 0: no limit. */
  readonly maxBytes: number | null;
}

/** @throws SquallError SQ_BUS where there is no answer; one that is forbidden is a state of nulls. */
export async function lookAt(connection: Connection): Promise<ServerState> {
  const info = await connection.ask(async (client) => {
    try {
      return await client.info();
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOPERM')) return '';
      throw error;
    }
  });
  return readState(info);
}

export function readState(info: string): ServerState {
  const fields = new Map(
    [...info.matchAll(/^([a-z_]+):(.*?)\r?$/gm)].map((match) => [match[1], match[2] ?? '']),
  );
  const number = (name: string): number | null => {
    const text = fields.get(name);
    return text === undefined ? null : Number(text);
  };
  return {
    version: fields.get('redis_version') ?? null,
    runId: fields.get('run_id') ?? null,
    role: fields.get('role') ?? null,
    mode: fields.get('redis_mode') ?? null,
    policy: fields.get('maxmemory_policy') ?? null,
    usedBytes: number('used_memory'),
    maxBytes: number('maxmemory'),
  };
}

/**
 * Refuses a server that measurements would be lost on.
 * @throws SquallError SQ_BUS
 */
export function mustBeFit(state: ServerState, address: RedisAddress): void {
  if (isTooOld(state)) {
    throw busError(
      address,
      `it is version ${state.version}`,
      'the bus needs Redis 6.2 or later, which can trim a stream by id',
    );
  }
  if (state.mode === 'cluster') {
    throw busError(address, 'it is part of a cluster', 'the bus needs a single server');
  }
  if (state.role === 'slave') {
    throw busError(address, 'it is a replica', 'give the address of the primary');
  }
  if (isEvicting(state) && state.maxBytes !== null && state.maxBytes > 0) {
    throw busError(
      address,
      `it throws keys away when its memory is full (maxmemory-policy ${state.policy}), and measurements with them`,
      'redis-cli CONFIG SET maxmemory-policy noeviction',
    );
  }
  if (isFull(state)) {
    throw busError(
      address,
      `it is full: ${megabytes(state.usedBytes)} of ${megabytes(state.maxBytes)} are used`,
      'raise its maxmemory, or remove what fills it',
    );
  }
}

/** What is worth a warning though the server can do its work, one sentence each. */
export function warningsOf(state: ServerState, limits: RedisLimits): string[] {
  const warnings: string[] = [];
  const { maxBytes, policy, usedBytes } = state;
  if (policy === null) {
    warnings.push(
      'its maxmemory-policy cannot be read (INFO is forbidden), so it is not known whether it throws measurements away',
    );
  } else if (isEvicting(state)) {
    const now = maxBytes === 0 ? ' as soon as it gets a maxmemory' : '';
    warnings.push(
      `its maxmemory-policy is ${policy}: it may throw measurements away${now}; noeviction is the one to set`,
    );
  }
  if (usedBytes !== null && maxBytes !== null && maxBytes > 0) {
    if (usedBytes >= limits.alarmMemoryShare * maxBytes) {
      warnings.push(
        `${megabytes(usedBytes)} of its ${megabytes(maxBytes)} are used: when it is full it takes no measurements`,
      );
    }
  }
  return warnings;
}

function isTooOld({ version }: ServerState): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return version !== null && (major < 6 || (major === 6 && minor < 2));
}

function isEvicting({ policy }: ServerState): boolean {
  return policy !== null && policy !== 'noeviction';
}

function isFull({ maxBytes, usedBytes }: ServerState): boolean {
  return maxBytes !== null && usedBytes !== null && maxBytes > 0 && usedBytes >= maxBytes;
}

function megabytes(bytes: number | null): string {
  return `${((bytes ?? 0) / 1024 / 1024).toFixed(1)} MiB`;
}
