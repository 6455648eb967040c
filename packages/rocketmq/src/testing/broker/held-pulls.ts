import type { Socket } from 'node:net';
import type { RemotingCommand } from '../../codec/command.ts';
import { ResponseCode } from '../../codec/response-code.ts';
import type { Reply } from '../reply.ts';
import type { MessageStore } from './message-store.ts';

/** Bit of a pull's `sysFlag`: it may be held. */
const SUSPEND = 2;
/** As brokers give it by themselves. */
const PULL_MESSAGES_MAX = 32;

interface Held {
  readonly request: RemotingCommand;
  readonly reply: Reply;
  readonly timer: NodeJS.Timeout;
}

/** Pulls, and those of them that wait for a message. */
export class HeldPulls {
  readonly #store: MessageStore;
  readonly #held = new Set<Held>();

  constructor(store: MessageStore) {
    this.#store = store;
  }

  pull(request: RemotingCommand, reply: Reply): void {
    if (this.#answer(request, reply)) return;
    const mayWait = (Number(request.ext['sysFlag'] ?? 0) & SUSPEND) !== 0;
    if (!mayWait) {
      this.#notFound(request, reply);
      return;
    }
    const timer = setTimeout(
      () => {
        this.#held.delete(held);
        this.#notFound(request, reply);
      },
      Number(request.ext['suspendTimeoutMillis'] ?? 0),
    );
    const held: Held = { request, reply, timer };
    this.#held.add(held);
  }

  /** The connection is over, and its pulls with it. */
  left(socket: Socket): void {
    for (const held of this.#held) {
      if (held.reply.socket !== socket) continue;
      clearTimeout(held.timer);
      this.#held.delete(held);
    }
  }

  /** A message came: whoever waits for it is answered. */
  arrived(topic: string, queueId: number): void {
    for (const held of this.#held) {
      const { ext } = held.request;
      if (ext['topic'] !== topic || Number(ext['queueId']) !== queueId) continue;
      if (!this.#answer(held.request, held.reply)) continue;
      clearTimeout(held.timer);
      this.#held.delete(held);
    }
  }

  end(): void {
    for (const { timer } of this.#held) clearTimeout(timer);
    this.#held.clear();
  }

  /** False: nothing is there yet. */
  #answer(request: RemotingCommand, reply: Reply): boolean {
    const { topic, queueId, from } = placeOf(request);
    const { min, max } = this.#store.range(topic, queueId);
    const offsets = { minOffset: String(min), maxOffset: String(max), suggestWhichBrokerId: '0' };
    if (from > max) {
      const ext = { ...offsets, nextBeginOffset: String(max) };
      reply.answer({ code: ResponseCode.pullOffsetMoved, remark: 'OFFSET_OVERFLOW_BADLY', ext });
      return true;
    }
    const most = Math.min(Number(request.ext['maxMsgNums'] ?? 1), PULL_MESSAGES_MAX);
    const tags = tagsOf(request);
    const { records, next } = this.#store.read({ topic, queueId, from, most, tags });
    const ext = { ...offsets, nextBeginOffset: String(next) };
    if (records.length > 0) {
      reply.answer({ remark: 'FOUND', ext, body: Buffer.concat(records) });
    } else if (next > from) {
      reply.answer({ code: ResponseCode.pullRetryImmediately, remark: 'NO_MATCHED_MESSAGE', ext });
    } else return false;
    return true;
  }

  #notFound(request: RemotingCommand, reply: Reply): void {
    const { topic, queueId, from } = placeOf(request);
    const { min, max } = this.#store.range(topic, queueId);
    reply.answer({
      code: ResponseCode.pullNotFound,
      remark: 'OFFSET_OVERFLOW_ONE',
      ext: { minOffset: String(min), maxOffset: String(max), nextBeginOffset: String(from) },
    });
  }
}

function placeOf({ ext }: RemotingCommand): { topic: string; queueId: number; from: number } {
  return {
    topic: ext['topic'] ?? '',
    queueId: Number(ext['queueId'] ?? 0),
    from: Number(ext['queueOffset'] ?? 0),
  };
}

function tagsOf({ ext }: RemotingCommand): string[] | null {
  const expression = ext['subscription'] ?? '*';
  const all = expression === '*' || expression === '' || ext['expressionType'] === 'SQL92';
  return all ? null : expression.split('||').map((tag) => tag.trim());
}
