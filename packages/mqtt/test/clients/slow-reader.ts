import type { Socket } from 'node:net';
import { type ConnectOptions, createMqttClients } from '../../src/index.ts';
import { CONNACK, FakeBroker } from '../fixture/fake-broker.ts';
import { connectOptions, message } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';

export interface SlowReaderResult {
  /** Bytes in user space while the broker did not read. */
  readonly stuckBytes: number;
  readonly stuckAfterwards: number;
  readonly sent: Buffer;
  readonly received: Buffer;
  readonly drained: number;
}

const MESSAGES = 4_000;

/** Publishes 20 MB of changing messages to a broker that reads only when all is written. */
export async function publishToSlowReader(): Promise<SlowReaderResult> {
  const broker = await FakeBroker.start(readSlowly);
  const result = await publishTo(broker, {});
  await broker.stop();
  return result;
}

/** Answers the CONNECT, then reads nothing more until it is told to. */
export function readSlowly(socket: Socket): void {
  socket.once('data', () => {
    socket.write(CONNACK);
    socket.pause();
  });
}

/** The part of the client; the broker reads slowly. */
export async function publishTo(
  broker: { readonly port: number; readonly sockets: Iterable<Socket> },
  overrides: Partial<ConnectOptions>,
): Promise<SlowReaderResult> {
  const received: Buffer[] = [];
  const recorder = new Recorder();
  const clients = createMqttClients({ slots: 1, handlers: recorder });
  clients.connect(0, connectOptions(broker.port, overrides));
  await recorder.first('onConnected');
  const item = message('t', 'x'.repeat(5_000));
  const sent: Buffer[] = [];
  for (let n = 0; n < MESSAGES; n += 1) {
    item.payload.fill(n % 251);
    clients.publish(0, item);
    if (n % 3 === 0) clients.flush();
    sent.push(Buffer.from([0x30, 0x8b, 0x27, 0, 1, 0x74]), Buffer.from(item.payload));
  }
  clients.flush();
  const stuckBytes = clients.writableLength(0);
  for (const socket of broker.sockets) {
    socket.on('data', (data) => received.push(data));
    socket.resume();
  }
  await recorder.first('onDrained');
  const stuckAfterwards = clients.writableLength(0);
  const all = Buffer.concat(sent);
  await recorder.until(() => received.reduce((sum, part) => sum + part.length, 0) >= all.length);
  const drained = recorder.of('onDrained').length;
  clients.close();
  return { stuckBytes, stuckAfterwards, sent: all, received: Buffer.concat(received), drained };
}
