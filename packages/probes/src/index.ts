export { FIRST_TRIES, type KeeperListener, type KeptProbe, ProbeKeeper } from './keeper.ts';
export type { AgentHost } from './host/host-probe.ts';
export { openProbe, type ProbeScene } from './open-probe.ts';
export { type Figure, type Probe, ProbeError, type Reading } from './probe.ts';
