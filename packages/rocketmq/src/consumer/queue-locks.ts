import type { RemotingCommand, RequestParts } from '../codec/command.ts';
import { RequestCode } from '../codec/request-code.ts';
import { successOf } from '../connections/answers.ts';
import type { TopicQueue } from '../route/topic-queues.ts';

export interface QueueLockParts {
  readonly group: string;
  readonly clientId: string;
  ask(address: string, parts: RequestParts): Promise<RemotingCommand>;
}

/**
 * Locks on the queues of an ordered consumer, kept by their brokers: they end after 60 s unless they
 * are taken again, which each rebalance (every 20 s) does.
 */
export class QueueLocks {
  readonly #parts: QueueLockParts;

  constructor(parts: QueueLockParts) {
    this.#parts = parts;
  }

  /** Takes the locks that are to be had, and gives their queues; others are still somebody else's. */
  async acquire(queues: readonly TopicQueue[]): Promise<TopicQueue[]> {
    const locked: TopicQueue[] = [];
    for (const [address, ofBroker] of byAddress(queues)) {
      const answer = await this.#ask(address, RequestCode.lockBatchQueues, ofBroker);
      const body: unknown = JSON.parse(successOf(answer, address).body.toString());
      const held = new Set(lockedNames(body));
      locked.push(...ofBroker.filter((queue) => held.has(nameOf(queue))));
    }
    return locked;
  }

  async release(queues: readonly TopicQueue[]): Promise<void> {
    const brokers = [...byAddress(queues)];
    // A broker that is away lets go by itself.
    await Promise.allSettled(
      brokers.map(([address, ofBroker]) =>
        this.#ask(address, RequestCode.unlockBatchQueues, ofBroker),
      ),
    );
  }

  #ask(address: string, code: number, queues: readonly TopicQueue[]): Promise<RemotingCommand> {
    const { group, clientId } = this.#parts;
    const mqSet = queues.map(({ topic, brokerName, queueId }) => ({ topic, brokerName, queueId }));
    const body = Buffer.from(JSON.stringify({ consumerGroup: group, clientId, mqSet }));
    return this.#parts.ask(address, { code, body });
  }
}

function byAddress(queues: readonly TopicQueue[]): Map<string, TopicQueue[]> {
  const groups = new Map<string, TopicQueue[]>();
  for (const queue of queues) {
    const group = groups.get(queue.address);
    if (group === undefined) groups.set(queue.address, [queue]);
    else group.push(queue);
  }
  return groups;
}

function lockedNames(body: unknown): string[] {
  const set: unknown =
    typeof body === 'object' && body !== null ? Reflect.get(body, 'lockOKMQSet') : null;
  if (!Array.isArray(set)) return [];
  return set.map((queue: unknown) => {
    if (typeof queue !== 'object' || queue === null) return '';
    return `${Reflect.get(queue, 'topic')} ${Reflect.get(queue, 'queueId')}`;
  });
}

/** Of one broker's queues. */
function nameOf(queue: TopicQueue): string {
  return `${queue.topic} ${queue.queueId}`;
}
