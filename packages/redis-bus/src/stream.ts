import type { BusAgent } from '@squall/core/bus';
import { Row } from './row.ts';
import { entryId, readEntryId, streamKey } from './stream-key.ts';

/** One entry as the server hands it over: id and a flat list of fields and values. */
export type RawEntry = readonly [id: Buffer, fields: readonly Buffer[]];

/** The stream of one agent, as the controller follows it. */
export class AgentStream {
  readonly agent: string;
  readonly key: string;
  readonly row: Row;
  /** A checkpoint covers everything up to this sequence of the row's epoch, and the agent knows. */
  #coveredSeq = 0;
  #trimmedSeq = 0;
  /** The alarm of its length was given. */
  alarmed = false;

  constructor(run: string, { afterSeq, agent, epoch }: BusAgent) {
    this.agent = agent;
    this.key = streamKey(run, agent);
    this.row = new Row(epoch, afterSeq);
  }

  cover(epoch: number, seq: number): void {
    if (epoch === this.row.epoch) this.#coveredSeq = Math.max(this.#coveredSeq, seq);
  }

  /**
   * The oldest id to keep, or null where nothing is to be trimmed. The newest entry that is covered
   * stays: it is what a sender looks for that never heard whether it got through.
   */
  trimId(): string | null {
    return this.#coveredSeq > this.#trimmedSeq ? entryId(this.row.epoch, this.#coveredSeq) : null;
  }

  trimmed(): void {
    this.#trimmedSeq = this.#coveredSeq;
  }

  /** @returns the frame and the hole that it shows, or null for an entry that is none of ours. */
  take([id, fields]: RawEntry): {
    readonly bytes: Uint8Array;
    readonly hole: { readonly seqFrom: number; readonly seqTo: number } | null;
  } | null {
    const place = readEntryId(id.toString());
    const from = field(fields, 'from');
    const bytes = field(fields, 'frame');
    if (place === null || from === null || bytes === null) return null;
    const seqFrom = Number(from.toString());
    if (!Number.isSafeInteger(seqFrom) || seqFrom < 1 || seqFrom > place.seq) return null;
    const hole = this.row.take({ epoch: place.epoch, seqFrom, seqTo: place.seq });
    return { bytes, hole };
  }
}

function field(fields: readonly Buffer[], name: string): Buffer | null {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at]?.toString() === name) return fields[at + 1] ?? null;
  }
  return null;
}
