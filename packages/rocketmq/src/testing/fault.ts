import type { RemotingCommand } from '../codec/command.ts';

/** Which requests of a code a fault befalls: of those that `where` lets through, every n-th. */
interface Choice {
  /** Of `RequestCode`. */
  readonly code: number;
  /** All unless said. */
  readonly where?: (request: RemotingCommand) => boolean;
  /** 1 unless said: each of them. */
  readonly every?: number;
  /** At most so many; without end unless said. */
  readonly most?: number;
}

/** What befalls a request, or the answer to it. */
export type AnswerFault =
  /** Answered with this code; `done` does what was asked for nevertheless (codes 10, 11 and 12 do). */
  | {
      readonly kind: 'refuse';
      readonly with: number;
      readonly remark?: string;
      readonly done?: boolean;
    }
  /** Never answered; `done` as above. */
  | { readonly kind: 'silent'; readonly done?: boolean }
  /** Answered so much later; other answers overtake it. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Held until the next answer on its connection has passed, and sent behind it. */
  | { readonly kind: 'swap' }
  /** Sent in pieces of so many bytes, a millisecond apart; what follows waits. */
  | { readonly kind: 'pieces'; readonly bytes: number }
  /** Sent twice. */
  | { readonly kind: 'twice' }
  /** Done, and the connection ends behind so many bytes of the answer; 0: before it. */
  | { readonly kind: 'cut'; readonly passing: number }
  /** Sent with other fields: an offset that is a lie. */
  | { readonly kind: 'rewrite'; readonly ext: Readonly<Record<string, string>> }
  /** These bytes go out in the answer's place. */
  | { readonly kind: 'garbage'; readonly bytes: Buffer };

/** What becomes of a message that is acknowledged as if nothing were the matter. */
export type StoreFault =
  /** It is not stored. */
  | { readonly kind: 'lose' }
  /** It is stored twice. */
  | { readonly kind: 'again' }
  /** A bit of its body is flipped; the checksum fits what is stored then. */
  | { readonly kind: 'corrupt' }
  /** As `corrupt`, and the checksum stays that of the body that was sent. */
  | { readonly kind: 'rot' }
  /** The queue's next offset is one more than it should be. */
  | { readonly kind: 'skip' };

export type Fault = Choice & (AnswerFault | StoreFault);

/** How often a fault came about. */
export interface Injected {
  readonly fault: Fault;
  count: number;
}

/** The `nth` request alone, counted from 1. */
export function only(nth: number): { readonly every: number; readonly most: number } {
  return { every: nth, most: 1 };
}

/** Decides what befalls each request: the first fault that chooses it, or none. */
export class FaultBook {
  readonly #entries: { readonly injected: Injected; seen: number }[] = [];

  get injected(): readonly Injected[] {
    return this.#entries.map(({ injected }) => injected);
  }

  add(fault: Fault): Injected {
    const injected = { fault, count: 0 };
    this.#entries.push({ injected, seen: 0 });
    return injected;
  }

  clear(): void {
    this.#entries.length = 0;
  }

  choose(request: RemotingCommand): Fault | null {
    for (const entry of this.#entries) {
      const { fault } = entry.injected;
      const { every = 1, most = Number.POSITIVE_INFINITY } = fault;
      if (fault.code !== request.code || fault.where?.(request) === false) continue;
      entry.seen += 1;
      if (entry.seen % every !== 0 || entry.injected.count >= most) continue;
      entry.injected.count += 1;
      return fault;
    }
    return null;
  }
}

export function isOfStore(fault: Fault): fault is Choice & StoreFault {
  return ['lose', 'again', 'corrupt', 'rot', 'skip'].includes(fault.kind);
}
