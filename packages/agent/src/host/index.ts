export { askClock } from './ask-clock.ts';
export { clockDomain } from './clock-domain.ts';
export { type Examination, examineHost } from './examine.ts';
export type { HostFinding } from './finding.ts';
export { type HostReading, readHost } from './host-reading.ts';
export { withOwnSources } from './source-addresses.ts';
export { tuningScript } from './tuning-script.ts';
