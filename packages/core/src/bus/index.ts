export type { BusReceiver, BusSender, EncodedFrame, ReceivedFrame } from './bus.ts';
export { type Batch, MAX_BATCH_BYTES, MAX_BATCH_FRAMES, Outbox, OUTBOX_LIMIT } from './outbox.ts';
export type {
  BusAgent,
  BusAssignment,
  BusLink,
  BusNotice,
  BusRun,
  RunBus,
} from './run-bus.ts';
