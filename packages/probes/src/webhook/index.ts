export { BODY_LIMIT, MAX_BODY_LIMIT } from './limits.ts';
export { type HookOptions, HookReceiver } from './receiver.ts';
export type { HookStats } from './stats.ts';
