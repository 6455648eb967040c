import { startAedes } from '../fixtures/brokers/aedes.ts';
import type { TestBroker } from '../fixtures/brokers/broker.ts';
import { hiveMqMissing, startHiveMq } from '../fixtures/brokers/hivemq.ts';
import { mochiMissing, startMochi } from '../fixtures/brokers/mochi.ts';
import { rabbitMqMissing, startRabbitMq } from '../fixtures/brokers/rabbitmq.ts';
import { freePort } from '../fixtures/process.ts';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import type { Version } from './feature.ts';

/** A broker of the matrix; what it is known not to have stands in `lacks.json`. */
export interface MatrixBroker {
  readonly id: string;
  readonly versions: readonly Version[];
  /** Why it cannot be had here, or null. */
  missing(): Promise<string | null>;
  start(): Promise<TestBroker>;
}

export const BROKERS: readonly MatrixBroker[] = [
  {
    id: 'mosquitto',
    versions: ['3.1', '3.1.1', '5'],
    missing: async () => mosquittoMissing(),
    start: startMosquitto,
  },
  {
    id: 'hivemq',
    versions: ['3.1', '3.1.1', '5'],
    missing: hiveMqMissing,
    start: startHiveMq,
  },
  {
    id: 'mochi',
    versions: ['3.1.1', '5'],
    missing: mochiMissing,
    start: startMochi,
  },
  {
    id: 'rabbitmq',
    versions: ['3.1', '3.1.1'],
    missing: async () => rabbitMqMissing(),
    start: startRabbitMq,
  },
  {
    id: 'aedes',
    versions: ['3.1', '3.1.1'],
    missing: async () => null,
    start: startAedes,
  },
];

async function startMosquitto(): Promise<TestBroker> {
  const webSocketPort = await freePort();
  const broker = await Mosquitto.start([
    `listener ${webSocketPort} 127.0.0.1`,
    'protocol websockets',
  ]);
  return { name: 'Mosquitto', port: broker.port, webSocketPort, dispose: () => broker.dispose() };
}
