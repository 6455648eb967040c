/** For tests: a broker, and the faults of brokers and networks. Nothing of this is in a load's path. */
export { FaultBroker, type FaultBrokerOptions } from './broker/fault-broker.ts';
export type { AuthAnswer, AuthStep } from './broker/broker-scene.ts';
export {
  type Fault,
  FaultBook,
  type Injected,
  type More,
  only,
  type PacketFields,
  type SeenPacket,
  type SeenStamp,
} from './fault.ts';
export { FaultGate, type GatedConnection } from './fault-gate.ts';
export type { ReadStamp } from './gate-packet.ts';
export type { Way } from './way.ts';
export { ScramServer } from './scram-server.ts';
