export { AddressSpread } from './address-spread.ts';
export {
  type AgentShare,
  type AgentWeight,
  apportion,
  type ClientRange,
  split,
  type WorkerShare,
} from './partition.ts';
