/**
 * Packet ids that may not be used again yet: their acknowledgement did not come in time, so the
 * broker may still hold them. Rare, hence a plain map; bounded by 65,519 ids a client.
 */
export class LockedIds {
  readonly #byClient = new Map<number, Set<number>>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  lock(client: number, packetId: number): void {
    let ids = this.#byClient.get(client);
    if (ids === undefined) {
      ids = new Set();
      this.#byClient.set(client, ids);
    }
    if (!ids.has(packetId)) this.#total += 1;
    ids.add(packetId);
  }

  has(client: number, packetId: number): boolean {
    return this.#total > 0 && this.#byClient.get(client)?.has(packetId) === true;
  }

  /** False where the id was not locked. */
  unlock(client: number, packetId: number): boolean {
    if (this.#total === 0) return false;
    const ids = this.#byClient.get(client);
    if (ids === undefined || !ids.delete(packetId)) return false;
    this.#total -= 1;
    if (ids.size === 0) this.#byClient.delete(client);
    return true;
  }

  clear(client: number): void {
    const ids = this.#byClient.get(client);
    if (ids === undefined) return;
    this.#total -= ids.size;
    this.#byClient.delete(client);
  }
}
