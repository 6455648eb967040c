export type { BusReceiver, BusSender, EncodedFrame, ReceivedFrame } from './bus.ts';
