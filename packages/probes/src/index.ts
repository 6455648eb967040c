export { ProbeError } from './probe.ts';
export type { Figure, FigureUnit, Probe, Reading } from './probe.ts';
