export { AddressSpread } from './address-spread.ts';
export { type GroupRows, rowsOf } from './group-rows.ts';
export {
  type AgentShare,
  type AgentWeight,
  apportion,
  type ClientRange,
  split,
  type WorkerShare,
} from './partition.ts';
