/** What all sessions of one set of clients may take: beyond it, newcomers shake hands in full. */
const SESSIONS_BYTES_MAX = 128 * 1024 * 1024;
/** A session holds the broker's certificates, too; a larger one is not kept. */
const SESSION_BYTES_MAX = 64 * 1024;

interface Kept {
  readonly server: string;
  readonly session: Buffer;
}

/**
 * TLS sessions (RFC 8446, 2.2: tickets) by the slot of their client, as a device keeps its own: the
 * next connection of the slot to the same server offers it, and the server may resume it.
 */
export class TlsSessions {
  readonly #kept = new Map<number, Kept>();
  #bytes = 0;
  #handshakes = 0;
  #resumed = 0;

  /** The session that `server` gave this slot last. */
  of(slot: number, server: string): Buffer | undefined {
    const kept = this.#kept.get(slot);
    return kept?.server === server ? kept.session : undefined;
  }

  keep(slot: number, server: string, session: Buffer): void {
    this.forget(slot);
    if (session.length > SESSION_BYTES_MAX) return;
    if (this.#bytes + session.length > SESSIONS_BYTES_MAX) return;
    this.#bytes += session.length;
    this.#kept.set(slot, { server, session });
  }

  /** It was offered and the handshake failed: it is not offered again. */
  forget(slot: number): void {
    this.#bytes -= this.#kept.get(slot)?.session.length ?? 0;
    this.#kept.delete(slot);
  }

  shakenHands(resumed: boolean): void {
    this.#handshakes += 1;
    if (resumed) this.#resumed += 1;
  }

  /** Handshakes that succeeded since the start. */
  get handshakes(): number {
    return this.#handshakes;
  }

  /** Those of them that resumed a session. */
  get resumed(): number {
    return this.#resumed;
  }
}
