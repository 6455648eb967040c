import { afterEach, describe, expect, test, vi } from 'vitest';
import { createMqttClients, type MqttClients } from '../../src/index.ts';
import { FakeBroker } from '../fixture/fake-broker.ts';
import { connectOptions } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';

let broker: FakeBroker | null = null;
let clients: MqttClients | null = null;

afterEach(async () => {
  clients?.close();
  clients = null;
  await broker?.stop();
  broker = null;
});

/** How the broker sees one connected client go. */
async function goneBy(how: (clients: MqttClients) => void): Promise<string> {
  const seen: string[] = [];
  const end = (what: string) => seen.push(what);
  broker = await FakeBroker.accepting((socket) => {
    socket.on('error', (error) => {
      end('code' in error ? String(error.code) : error.message);
    });
    socket.on('data', (bytes) => {
      if (bytes[0] === 0xe0) end('DISCONNECT');
    });
    socket.on('end', () => end('closed'));
  });
  const recorder = new Recorder();
  clients = createMqttClients({ slots: 1, handlers: recorder });
  clients.connect(0, connectOptions(broker.port));
  await recorder.first('onConnected');
  how(clients);
  expect(clients.isIdle(0)).toBe(true);
  await vi.waitFor(() => expect(seen).not.toEqual([]), 5_000);
  return seen[0] ?? '';
}

describe('a client', () => {
  test('that is reset is seen to be reset', async () => {
    expect(await goneBy((all) => all.reset(0))).toBe('ECONNRESET');
  });

  test('that is destroyed just closes, and one that disconnects says so', async () => {
    expect(await goneBy((all) => all.destroy(0))).toBe('closed');
    await broker?.stop();
    expect(await goneBy((all) => all.disconnect(0))).toBe('DISCONNECT');
  });

  test('may be reset before it is connected, and when it is idle', async () => {
    broker = await FakeBroker.start(() => undefined);
    const recorder = new Recorder();
    clients = createMqttClients({ slots: 1, handlers: recorder });
    clients.reset(0);
    clients.connect(0, connectOptions(broker.port));
    clients.reset(0);
    expect(clients.isIdle(0)).toBe(true);
    expect(recorder.events).toEqual([]);
  });
});
