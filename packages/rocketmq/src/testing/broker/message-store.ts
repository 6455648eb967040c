import { bodyCrc } from '../../codec/crc32.ts';
import { decodeProperties, Property } from '../../codec/message-properties.ts';
import type { StoreFault } from '../fault.ts';
import { recordOf } from '../record.ts';

/** A message as it came. */
export interface NewMessage {
  readonly topic: string;
  readonly queueId: number;
  readonly body: Buffer;
  /** As written. */
  readonly properties: string;
  readonly sysFlag: number;
  readonly bornAtMs: number;
  readonly reconsumeTimes: number;
}

interface Kept {
  readonly message: NewMessage;
  readonly record: Buffer;
  readonly queueOffset: number;
  readonly storedAtMs: number;
  readonly tag: string;
}

/** One queue; offsets may have holes. */
interface Queue {
  readonly kept: Kept[];
  next: number;
}

/** Beyond it the broker is full. */
const MESSAGES_MAX = 200_000;
const HALF_MESSAGES_MAX = 10_000;

/** The messages of a broker, in memory. */
export class MessageStore {
  readonly #topics = new Map<string, Queue[]>();
  readonly #byPosition = new Map<number, NewMessage>();
  readonly #halves = new Map<number, NewMessage>();
  #position = 0;

  get isFull(): boolean {
    return this.#byPosition.size >= MESSAGES_MAX || this.#halves.size >= HALF_MESSAGES_MAX;
  }

  get topics(): readonly string[] {
    return [...this.#topics.keys()];
  }

  has(topic: string): boolean {
    return this.#topics.has(topic);
  }

  queuesOf(topic: string): number {
    return this.#topics.get(topic)?.length ?? 0;
  }

  create(topic: string, queues: number): void {
    const kept = this.#topics.get(topic) ?? [];
    const more = Array.from({ length: Math.max(0, queues - kept.length) }, newQueue);
    this.#topics.set(topic, [...kept.slice(0, queues), ...more]);
  }

  delete(topic: string): boolean {
    return this.#topics.delete(topic);
  }

  /** Stores a message, or what a fault makes of it. */
  append(
    message: NewMessage,
    fault: StoreFault | null = null,
  ): { readonly queueOffset: number; readonly position: number } {
    const queue = this.#topics.get(message.topic)?.[message.queueId];
    if (queue === undefined) throw new Error(`no queue ${message.queueId} of ${message.topic}`);
    if (fault?.kind === 'skip') queue.next += 1;
    const told = { queueOffset: queue.next, position: this.#position };
    if (fault?.kind === 'lose') return told;
    this.#put(queue, message, fault);
    if (fault?.kind === 'again') this.#put(queue, message, null);
    return told;
  }

  /** Nobody sees it before it is committed. */
  appendHalf(message: NewMessage): { readonly queueOffset: number; readonly position: number } {
    const position = this.#advance();
    this.#halves.set(position, message);
    return { queueOffset: this.#halves.size - 1, position };
  }

  /** False: no such half message, or it is decided. */
  endHalf(position: number, commit: boolean): boolean {
    const message = this.#halves.get(position);
    if (message === undefined) return false;
    this.#halves.delete(position);
    if (commit) this.append(message);
    return true;
  }

  at(position: number): NewMessage | null {
    return this.#byPosition.get(position) ?? null;
  }

  range(topic: string, queueId: number): { readonly min: number; readonly max: number } {
    const queue = this.#topics.get(topic)?.[queueId];
    return { min: 0, max: queue?.next ?? 0 };
  }

  offsetAt(topic: string, queueId: number, timestampMs: number): number {
    const queue = this.#topics.get(topic)?.[queueId];
    const found = queue?.kept.find(({ storedAtMs }) => storedAtMs >= timestampMs);
    return found?.queueOffset ?? queue?.next ?? 0;
  }

  /** Records from an offset on, of these tags (null: of all), and the offset behind them. */
  read(place: {
    readonly topic: string;
    readonly queueId: number;
    readonly from: number;
    readonly most: number;
    readonly tags: readonly string[] | null;
  }): { readonly records: readonly Buffer[]; readonly next: number } {
    const kept = this.#topics.get(place.topic)?.[place.queueId]?.kept ?? [];
    let at = firstFrom(kept, place.from);
    let next = place.from;
    const records: Buffer[] = [];
    for (; at < kept.length && records.length < place.most; at += 1) {
      const each = kept[at];
      if (each === undefined) break;
      if (place.tags === null || place.tags.includes(each.tag)) records.push(each.record);
      next = each.queueOffset + 1;
    }
    return { records, next };
  }

  #put(queue: Queue, message: NewMessage, fault: StoreFault | null): void {
    const position = this.#advance();
    const harmed = fault?.kind === 'corrupt' || fault?.kind === 'rot';
    const body = harmed ? withFlippedBit(message.body) : message.body;
    const storedAtMs = Date.now();
    const record = recordOf({
      ...message,
      body,
      crc: bodyCrc(fault?.kind === 'rot' ? message.body : body),
      queueOffset: queue.next,
      commitLogOffset: position,
      storedAtMs,
    });
    const tag = decodeProperties(message.properties)[Property.tags] ?? '';
    queue.kept.push({ message, record, queueOffset: queue.next, storedAtMs, tag });
    queue.next += 1;
    this.#byPosition.set(position, message);
  }

  #advance(): number {
    const position = this.#position;
    this.#position += 1;
    return position;
  }
}

function newQueue(): Queue {
  return { kept: [], next: 0 };
}

/** Where the first one at or behind an offset stands; offsets only grow. */
function firstFrom(kept: readonly Kept[], offset: number): number {
  let low = 0;
  let high = kept.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kept[middle]?.queueOffset ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last byte: stamps stand at the front of a body, and are to be found. */
function withFlippedBit(body: Buffer): Buffer {
  const harmed = Buffer.from(body);
  const last = harmed.length - 1;
  if (last >= 0) harmed[last] = (harmed[last] ?? 0) ^ 1;
  return harmed;
}
