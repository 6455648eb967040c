import { describeBus } from '../bus-conformance.ts';
import { MemoryBus } from './memory-bus.ts';

describeBus('the bus in memory', () => Promise.resolve(new MemoryBus()));
