export { type KeeperListener, type KeptProbe, ProbeKeeper } from './keeper.ts';
export { openProbe } from './open-probe.ts';
export { type Figure, type Probe, ProbeError, type Reading } from './probe.ts';
