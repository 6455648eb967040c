import { type RemotingCommand, request } from '../codec/command.ts';
import { RequestCode } from '../codec/request-code.ts';
import { ResponseCode } from '../codec/response-code.ts';
import { answerError, RocketmqError } from '../codec/rocketmq-error.ts';
import {
  type BrokerData,
  parseClusterBrokers,
  parseTopicRoute,
  type TopicRoute,
} from '../codec/route-data.ts';
import { parseAddress } from '../connections/broker-address.ts';
import type { Requester } from '../connections/requester.ts';

/**
 * The name servers of a target. All of them hold everything: one is asked until its connection fails,
 * then the next.
 */
export class NameServers {
  readonly addresses: readonly string[];
  readonly #requester: Requester;
  #current: number;

  /**
   * @param first which one is asked first, so that many clients spread over them
   * @throws RocketmqError ARGUMENT for an empty list, or what is no address
   */
  constructor(addresses: readonly string[], requester: Requester, first = 0) {
    if (addresses.length === 0) throw new RocketmqError('ARGUMENT', 'no name server is given');
    for (const address of addresses) parseAddress(address);
    this.addresses = addresses;
    this.#requester = requester;
    this.#current = first % addresses.length;
  }

  /** Who is asked now. */
  get current(): string {
    return this.addresses[this.#current] ?? '';
  }

  /**
   * The route of a topic, or null where the name server does not know it.
   *
   * @throws RocketmqError ROUTE where no name server answers, naming what each of them did; ANSWER, TEXT
   */
  async route(topic: string): Promise<TopicRoute | null> {
    const ext = { topic, acceptStandardJsonOnly: 'true' };
    const answer = await this.#ask({ code: RequestCode.getRouteInfoByTopic, ext });
    if (answer.code === ResponseCode.topicNotExist) return null;
    return parseTopicRoute(this.#success(answer).body.toString());
  }

  /**
   * Every broker of every cluster.
   *
   * @throws RocketmqError ROUTE, ANSWER, TEXT
   */
  async brokers(): Promise<BrokerData[]> {
    const answer = await this.#ask({ code: RequestCode.getBrokerClusterInfo });
    return parseClusterBrokers(this.#success(answer).body.toString());
  }

  /** Takes a topic's route out of every name server; those that do not answer are left out. */
  async forgetTopic(topic: string): Promise<void> {
    const parts = { code: RequestCode.deleteTopicInNameServer, ext: { topic } };
    await Promise.allSettled(this.addresses.map((address) => this.#requester.ask(address, parts)));
  }

  async #ask(parts: { code: number; ext?: Record<string, string> }): Promise<RemotingCommand> {
    const failures: string[] = [];
    const first = this.#current;
    for (let tried = 0; tried < this.addresses.length; tried += 1) {
      // Others may ask at the same time: each walks the list by itself.
      const index = (first + tried) % this.addresses.length;
      try {
        const answer = await this.#requester.ask(this.addresses[index] ?? '', request(parts));
        this.#current = index;
        return answer;
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    throw new RocketmqError('ROUTE', `no name server answers: ${failures.join('; ')}`, {
      hint: 'nameServers are name servers (port 9876 as a rule), not brokers',
    });
  }

  #success(answer: RemotingCommand): RemotingCommand {
    if (answer.code === ResponseCode.success) return answer;
    throw answerError({ code: answer.code, remark: answer.remark, address: this.current });
  }
}
