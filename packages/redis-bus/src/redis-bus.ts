import type { BusAssignment, BusReceiver, BusRun, RunBus } from '@squall/core/bus';
import { parseRedisAddress, type RedisAddress } from './address.ts';
import { Connection } from './connection.ts';
import { busFailure } from './failure.ts';
import { REDIS_LIMITS, type RedisLimits } from './limits.ts';
import { RedisRunReceiver } from './run-receiver.ts';
import { lookAt, mustBeFit, type ServerState, warningsOf } from './server-state.ts';

export interface RedisBusOptions {
  /** As the controller reaches it. */
  readonly url: string;
  /** As agents reach it. Default: the same. */
  readonly urlForAgents?: string;
  readonly limits?: Partial<RedisLimits>;
}

/** For the timers of both ends. */
const MARGIN_MS = 1_000;

/** Redis Streams as the bus of a controller, for any number of runs side by side. */
export class RedisBus implements RunBus {
  readonly assignment: BusAssignment;
  readonly patienceUs: number;
  readonly noticeUs: number;
  readonly #address: RedisAddress;
  readonly #limits: RedisLimits;
  readonly #receivers = new Set<RedisRunReceiver>();

  /**
   * Looks at the server before anything depends on it.
   * @throws SquallError SQ_USAGE for an address that is none, SQ_BUS for a server that cannot be
   * reached or is not fit for measurements.
   */
  static async open(options: RedisBusOptions): Promise<RedisBus> {
    const bus = new RedisBus(options);
    await bus.#look();
    return bus;
  }

  /**
   * For a controller that has runs to go on with: the server is looked at when each run opens its way.
   * @throws SquallError SQ_USAGE for an address that is none.
   */
  static unseen(options: RedisBusOptions): RedisBus {
    return new RedisBus(options);
  }

  private constructor({ limits, url, urlForAgents }: RedisBusOptions) {
    this.#address = parseRedisAddress(url);
    if (urlForAgents !== undefined) parseRedisAddress(urlForAgents);
    this.#limits = { ...REDIS_LIMITS, ...limits };
    this.assignment = { kind: 'redis', url: urlForAgents ?? url };
    this.patienceUs = this.#limits.patienceUs;
    // A reading that is not answered is noticed last.
    this.noticeUs = (this.#limits.blockMs + this.#limits.answerMs + MARGIN_MS) * 1000;
  }

  /** The address without its password. */
  get shown(): string {
    return this.#address.shown;
  }

  async open(run: BusRun): Promise<BusReceiver> {
    const state = await this.#look();
    for (const reason of warningsOf(state, this.#limits)) run.notice({ kind: 'memory', reason });
    const receiver: RedisRunReceiver = new RedisRunReceiver({
      address: this.#address,
      limits: this.#limits,
      run,
      runId: state.runId,
      closed: () => this.#receivers.delete(receiver),
    });
    this.#receivers.add(receiver);
    return receiver;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#receivers].map((receiver) => receiver.leave()));
  }

  async #look(): Promise<ServerState> {
    const address = this.#address;
    const connection = await Connection.dial({
      address,
      limits: this.#limits,
      name: 'squall-controller-check',
    });
    try {
      const state = await lookAt(connection);
      mustBeFit(state, address);
      return state;
    } catch (error) {
      throw busFailure(address, error);
    } finally {
      connection.close();
    }
  }
}
