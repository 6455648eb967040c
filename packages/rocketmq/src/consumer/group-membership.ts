import type { RemotingCommand, RequestParts } from '../codec/command.ts';
import { RequestCode } from '../codec/request-code.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import { successOf } from '../connections/answers.ts';
import type { BrokerSockets } from '../connections/broker-sockets.ts';

export interface MembershipParts {
  readonly group: string;
  readonly clientId: string;
  /** Body of the heartbeat. */
  readonly heartbeat: Buffer;
  readonly sockets: BrokerSockets;
  /** Over the member's own connection, by which brokers know it. */
  ask(address: string, parts: RequestParts): Promise<RemotingCommand>;
}

/** One member of a group, as brokers see it. */
export class GroupMembership {
  readonly #parts: MembershipParts;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Registers with a broker, or says that it is still there. @throws RocketmqError ANSWER */
  async beat(address: string): Promise<void> {
    const { sockets, heartbeat } = this.#parts;
    if (sockets.connection(address) === null) return;
    const parts = { code: RequestCode.heartbeat, body: heartbeat };
    successOf(await this.#parts.ask(address, parts), address);
  }

  /** @throws RocketmqError ANSWER */
  async beatAll(): Promise<void> {
    await Promise.all(this.#parts.sockets.addresses.map((address) => this.beat(address)));
  }

  /** Ids of all members, asked of one broker. @throws RocketmqError ANSWER, CLOSED */
  async ids(): Promise<string[]> {
    const [address] = this.#connected();
    if (address === undefined) throw new RocketmqError('CLOSED', 'no broker is connected');
    const ext = { consumerGroup: this.#parts.group };
    const parts = { code: RequestCode.getConsumerListByGroup, ext };
    const answer = successOf(await this.#parts.ask(address, parts), address);
    return idsOf(JSON.parse(answer.body.toString()));
  }

  /** Leaves the group at every broker that can be reached. */
  async leave(): Promise<void> {
    const ext = { clientID: this.#parts.clientId, consumerGroup: this.#parts.group };
    const parts = { code: RequestCode.unregisterClient, ext };
    await Promise.allSettled(this.#connected().map((address) => this.#parts.ask(address, parts)));
  }

  #connected(): string[] {
    const { sockets } = this.#parts;
    return sockets.addresses.filter((address) => sockets.connection(address) !== null);
  }
}

function idsOf(body: unknown): string[] {
  const list: unknown =
    typeof body === 'object' && body !== null ? Reflect.get(body, 'consumerIdList') : null;
  return Array.isArray(list) ? list.filter((id) => typeof id === 'string') : [];
}
