import { SquallError } from '@squall/core/errors';
import { readSecret } from './secret-file.ts';

export interface RedisOptions {
  /** Redis as the bus, as this process reaches it; and as agents reach it, where that differs. */
  readonly redis?: string;
  readonly redisForAgents?: string;
  /** Holds the password that neither address names. */
  readonly redisPasswordFile?: string;
}

/**
 * @throws SquallError SQ_USAGE for agents that would have a bus which the controller has not, for a
 * password that cannot be read, and for two of them.
 */
export function redisOf({ redis, redisForAgents, redisPasswordFile: file }: RedisOptions) {
  if (redis === undefined && redisForAgents === undefined) return {};
  if (redis !== undefined) {
    const password = file === undefined ? null : readSecret(file, 'password');
    const forAgents =
      redisForAgents === undefined ? {} : { urlForAgents: withPassword(redisForAgents, password) };
    return { redis: { url: withPassword(redis, password), ...forAgents } };
  }
  throw new SquallError('SQ_USAGE', '--redis-for-agents needs --redis', {
    hint: 'the controller reads from Redis what the agents write there: give it its own address, too',
  });
}

/** What is no address is told by the one who reads it. */
function withPassword(address: string, password: string | null): string {
  if (password === null || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password !== '') {
    throw new SquallError('SQ_USAGE', 'the address of Redis has a password, and so has the file', {
      hint: 'leave the one in the address out: others on this machine can see it',
    });
  }
  // The setter leaves a percent sign as it is.
  url.password = encodeURIComponent(password);
  return url.href;
}
