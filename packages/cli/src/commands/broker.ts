import { createServer } from 'node:net';
import { Aedes } from 'aedes';
import { onParentGone } from '../processes/interrupts.ts';

/** What the embedded broker tells its parent. */
export interface BrokerReady {
  readonly type: 'broker_ready';
  readonly port: number;
}

/**
 * The embedded MQTT broker of `squall run --with-broker`: aedes on a free port of 127.0.0.1, in a
 * process of its own, so that it takes no time from the controller's loop. It is here for a first
 * look and for tests; figures measured against it say nothing about any real broker.
 */
export async function runBroker(): Promise<void> {
  const broker = await Aedes.createBroker();
  const server = createServer(broker.handle);
  onParentGone(() => process.exit(0));
  process.on('SIGTERM', () => process.exit(0));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const ready: BrokerReady = { type: 'broker_ready', port };
  if (process.send === undefined) process.stdout.write(`mqtt://127.0.0.1:${port}\n`);
  else process.send(ready);
}

export function isBrokerReady(message: unknown): message is BrokerReady {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    message.type === 'broker_ready'
  );
}
