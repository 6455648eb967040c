/** A broker with faults, for tests: never in the load path. */
export { type AnswerFault, type Fault, type Injected, only, type StoreFault } from './fault.ts';
export { FaultBroker } from './fault-broker.ts';
export { type RecordFields, recordOf } from './record.ts';
export type { Behaviour, Reply } from './reply.ts';
