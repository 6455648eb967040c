/**
 * Names of what the bus keeps in Redis. One stream for each (run, agent); its entries have the id
 * `epoch-seq`, where seq is the last one that the frame covers, and two fields: `from`, the first
 * one, and `frame`, its bytes. The braces keep all streams of a run together in one hash slot.
 */
export function streamKey(run: string, agent: string): string {
  return `squall:{${run}}:frames:${agent}`;
}

export function entryId(epoch: number, seq: number): string {
  return `${epoch}-${seq}`;
}

/** @returns null for an id that is none of ours. */
export function readEntryId(id: string): { readonly epoch: number; readonly seq: number } | null {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(id);
  return match === null ? null : { epoch: Number(match[1]), seq: Number(match[2]) };
}
