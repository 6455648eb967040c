export { type HookOptions, HookReceiver } from './receiver.ts';
export type { HookStats } from './stats.ts';
