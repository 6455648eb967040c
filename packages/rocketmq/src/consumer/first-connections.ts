import type { BrokerSockets } from '../connections/broker-sockets.ts';
import { connectError } from '../connections/requester.ts';
import { unreachable } from '../route/unreachable.ts';

const POLL_MS = 10;

export interface FirstConnections {
  readonly topic: string;
  readonly sockets: BrokerSockets;
  /** Reasons of first attempts that failed, by address. */
  readonly failures: ReadonlyMap<string, string>;
  isOver(): boolean;
}

/**
 * Done when each broker was tried and one at least can be used: one of several may be away.
 *
 * @throws RocketmqError CONNECT
 */
export async function firstConnections(of: FirstConnections): Promise<void> {
  const { sockets, failures, topic } = of;
  for (;;) {
    const { addresses } = sockets;
    const open = addresses.filter((address) => sockets.connection(address) !== null);
    const failed = addresses.filter((address) => failures.has(address) && !open.includes(address));
    if (failed.length === addresses.length) throw unreachable(topic, failures);
    if (open.length + failed.length === addresses.length) return;
    if (of.isOver()) throw connectError(addresses.join(', '), 'ended');
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}
