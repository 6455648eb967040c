import type { Message } from './message.ts';
import { Session } from './session.ts';
import { filterMatches } from './topic-filter.ts';

/** Sessions, retained messages, and who gets what. */
export class Switchboard {
  readonly #sessions = new Map<string, Session>();
  readonly #retained = new Map<string, Message>();
  /** Messages that each shared subscription has got, to give them out in turn. */
  readonly #turns = new Map<string, number>();

  session(clientId: string): Session | null {
    return this.#sessions.get(clientId) ?? null;
  }

  /** The client's session, kept or new. */
  open(clientId: string): { readonly session: Session; readonly isNew: boolean } {
    const kept = this.#sessions.get(clientId);
    if (kept !== undefined) return { session: kept, isNew: false };
    const session = new Session(clientId);
    this.#sessions.set(clientId, session);
    return { session, isNew: true };
  }

  forget(clientId: string): void {
    this.#sessions.delete(clientId);
  }

  retained(filter: string): Message[] {
    return [...this.#retained.values()].filter(({ topic }) => filterMatches(filter, topic));
  }

  /** `from`: the client that sent it; null: the server itself. */
  publish(message: Message, from: string | null): void {
    if (message.retain) this.#retain(message);
    for (const session of this.#sessions.values()) session.offer(message, from);
    for (const [filter, members] of this.#shares(message.topic)) {
      const here = members.filter((session) => session.connected);
      const able = here.length > 0 ? here : members;
      const turn = this.#turns.get(filter) ?? 0;
      this.#turns.set(filter, turn + 1);
      able[turn % able.length]?.offerShared(filter, message);
    }
  }

  #retain(message: Message): void {
    // An empty payload takes the retained message away [MQTT-3.3.1-10].
    if (message.payload.length === 0) this.#retained.delete(message.topic);
    else this.#retained.set(message.topic, message);
  }

  /** Members of each shared subscription that a topic fits, by its whole filter. */
  #shares(topic: string): Map<string, Session[]> {
    const shares = new Map<string, Session[]>();
    for (const session of this.#sessions.values()) {
      for (const { filter, share, topics } of session.subscriptions.values()) {
        if (share === null || !filterMatches(topics, topic)) continue;
        shares.set(filter, [...(shares.get(filter) ?? []), session]);
      }
    }
    return shares;
  }
}
