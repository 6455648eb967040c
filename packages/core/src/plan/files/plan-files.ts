import type { FileFacts } from '../plan.ts';
import type { Fault } from '../schema/leaves.ts';

/** Where the files that a plan names are looked for. */
export interface PlanFileSource {
  /**
   * A file by the name that the plan gives it. It does not read beyond `maxBytes`: a larger file is a
   * fault.
   */
  read(name: string, maxBytes: number): PlanFileContent | Fault;
  /** Names of the files in a directory, each with the directory before it; nothing below it. */
  list(directory: string): readonly string[] | Fault;
}

export interface PlanFileContent extends FileFacts {
  readonly content: Uint8Array;
}

/** What is in the files of a plan, by their names. */
export type PlanFiles = Readonly<Record<string, Uint8Array>>;
