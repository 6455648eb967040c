import { SquallError } from '@squall/core/errors';

export interface RedisOptions {
  /** Redis as the bus, as this process reaches it; and as agents reach it, where that differs. */
  readonly redis?: string;
  readonly redisForAgents?: string;
}

/** @throws SquallError SQ_USAGE for agents that would have a bus which the controller has not. */
export function redisOf({ redis, redisForAgents }: RedisOptions) {
  if (redis === undefined && redisForAgents === undefined) return {};
  if (redis !== undefined) {
    const forAgents = redisForAgents === undefined ? {} : { urlForAgents: redisForAgents };
    return { redis: { url: redis, ...forAgents } };
  }
  throw new SquallError('SQ_USAGE', '--redis-for-agents needs --redis', {
    hint: 'the controller reads from Redis what the agents write there: give it its own address, too',
  });
}
