import type { ProducerMessage } from './producer-message.ts';

interface Waiting {
  readonly token: number;
  readonly message: ProducerMessage;
}

/**
 * One message at a time on each queue: with more under way, brokers from 4.9.3 on store them in
 * another order than they were sent. Who comes while a queue is busy waits, in order.
 */
export class OrderedQueues {
  readonly #waitingMax: number;
  readonly #busy = new Map<number, Waiting[]>();
  /** Queue by token of the message that is under way. */
  readonly #queues = new Map<number, number>();
  #waiting = 0;

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  get isFull(): boolean {
    return this.#waiting >= this.#waitingMax;
  }

  /** True: the queue is free, and now this message's. False: the message waits; it was copied. */
  enter(queue: number, token: number, message: ProducerMessage): boolean {
    const waiting = this.#busy.get(queue);
    if (waiting === undefined) {
      this.#busy.set(queue, []);
      this.#queues.set(token, queue);
      return true;
    }
    const body = Buffer.from(message.body.subarray(message.bodyAt, message.bodyEnd));
    const copy = { ...message, body, bodyAt: 0, bodyEnd: body.length };
    waiting.push({ token, message: copy });
    this.#waiting += 1;
    return false;
  }

  /** A message is through: gives the next one of its queue, which has the queue now, or null. */
  leave(token: number): { queue: number; token: number; message: ProducerMessage } | null {
    const queue = this.#queues.get(token);
    if (queue === undefined) return null;
    this.#queues.delete(token);
    const next = this.#busy.get(queue)?.shift();
    if (next === undefined) {
      this.#busy.delete(queue);
      return null;
    }
    this.#waiting -= 1;
    this.#queues.set(next.token, queue);
    return { queue, ...next };
  }
}
