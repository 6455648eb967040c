import type { RemotingCommand } from '../codec/command.ts';
import type { BrokerSockets, BrokerSocketsEvents, SocketTotals } from './broker-sockets.ts';
import type { Connection } from './connection.ts';

/** One set of sockets for all producers of a client: each says what it needs, and hears of all. */
export class SharedSockets implements BrokerSocketsEvents {
  readonly #sockets: BrokerSockets;
  readonly #needs = new Map<BrokerSocketsEvents, readonly string[]>();

  constructor(newSockets: (events: BrokerSocketsEvents) => BrokerSockets) {
    this.#sockets = newSockets(this);
  }

  /** What a holder needs from now on; nothing: it is no holder any more. */
  keep(holder: BrokerSocketsEvents, addresses: readonly string[]): void {
    if (addresses.length === 0) this.#needs.delete(holder);
    else this.#needs.set(holder, addresses);
    this.#sockets.keep([...this.#needs.values()].flat());
  }

  connection(address: string, index = 0): Connection | null {
    return this.#sockets.connection(address, index);
  }

  get totals(): SocketTotals {
    return this.#sockets.totals;
  }

  tick(): void {
    this.#sockets.tick();
  }

  end(): void {
    this.#needs.clear();
    this.#sockets.end();
  }

  opened(address: string, index: number): void {
    for (const holder of this.#holders(address)) holder.opened(address, index);
  }

  closed(address: string, loss: { readonly reason: string; readonly wasOpen: boolean }): void {
    for (const holder of this.#holders(address)) holder.closed(address, loss);
  }

  requested(connection: Connection, command: RemotingCommand): boolean {
    for (const holder of this.#needs.keys()) {
      if (holder.requested(connection, command)) return true;
    }
    return false;
  }

  #holders(address: string): BrokerSocketsEvents[] {
    return [...this.#needs]
      .filter(([, addresses]) => addresses.includes(address))
      .map(([holder]) => holder);
  }
}
