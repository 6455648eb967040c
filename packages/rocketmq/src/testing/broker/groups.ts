import type { Socket } from 'node:net';

/** Who reads in which group, how far each group is, and who holds which lock. */
export class Groups {
  /** By group, then the client's id. */
  readonly #members = new Map<string, Map<string, Socket>>();
  readonly #offsets = new Map<string, Map<string, number>>();
  readonly #locks = new Map<string, string>();
  readonly #made = new Set<string>();

  /** Groups that were made by an administrator. */
  get made(): readonly string[] {
    return [...this.#made];
  }

  make(group: string): void {
    this.#made.add(group);
  }

  delete(group: string): boolean {
    this.#offsets.delete(group);
    return this.#made.delete(group);
  }

  /** True: the group has a member more. */
  join(group: string, clientId: string, socket: Socket): boolean {
    const members = this.#members.get(group) ?? new Map<string, Socket>();
    this.#members.set(group, members);
    const isNew = !members.has(clientId);
    members.set(clientId, socket);
    return isNew;
  }

  leave(group: string, clientId: string): boolean {
    for (const [queue, holder] of this.#locks) if (holder === clientId) this.#locks.delete(queue);
    return this.#members.get(group)?.delete(clientId) ?? false;
  }

  /** Gives the groups that lost a member with this connection. */
  left(socket: Socket): string[] {
    const changed: string[] = [];
    for (const [group, members] of this.#members) {
      for (const [clientId, its] of members) {
        if (its === socket && this.leave(group, clientId)) changed.push(group);
      }
    }
    return changed;
  }

  members(group: string): readonly string[] {
    return [...(this.#members.get(group)?.keys() ?? [])];
  }

  sockets(group: string): readonly Socket[] {
    return [...(this.#members.get(group)?.values() ?? [])];
  }

  commit(group: string, queue: string, offset: number): void {
    const offsets = this.#offsets.get(group) ?? new Map<string, number>();
    this.#offsets.set(group, offsets);
    offsets.set(queue, offset);
  }

  offset(group: string, queue: string): number | null {
    return this.#offsets.get(group)?.get(queue) ?? null;
  }

  offsets(group: string): ReadonlyMap<string, number> {
    return this.#offsets.get(group) ?? new Map();
  }

  lock(queue: string, clientId: string): boolean {
    const holder = this.#locks.get(queue) ?? clientId;
    this.#locks.set(queue, holder);
    return holder === clientId;
  }

  unlock(queue: string, clientId: string): void {
    if (this.#locks.get(queue) === clientId) this.#locks.delete(queue);
  }
}
