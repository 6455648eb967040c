/**
 * Frames over Redis Streams. An agent has a `RedisBusSender`, the controller a `RedisBus`; neither
 * knows the other. How a frame travels, and what each failure does: `docs/how-frames-travel.md`.
 */
export { parseRedisAddress, type RedisAddress } from './address.ts';
export { REDIS_LIMITS, type RedisLimits } from './limits.ts';
export { RedisBus, type RedisBusOptions } from './redis-bus.ts';
export { RedisBusSender, type RedisSenderOptions } from './sender.ts';
