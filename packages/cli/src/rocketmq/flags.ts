/**
 * The flags of RocketMQ's own benchmark tools, of 4.8, 4.9 and 5.x: names, forms, defaults, and since
 * when. What they mean here stands with them, for the help, for the notes of a run and for the docs.
 */
export interface ToolFlag {
  /** Name within this program; one flag may have other meanings in other tools. */
  readonly name: string;
  /** As it is written: `-w`, `-ak`. */
  readonly short: string;
  /** As it is written out: `--threadCount`; some have another flag's, or none. */
  readonly long?: string;
  readonly of: readonly ToolKind[];
  /** Every flag takes a value, booleans too. `share`: 0 to 1. */
  readonly form: 'text' | 'number' | 'boolean' | 'share';
  readonly fallback?: Readonly<Partial<Record<ToolKind, string>>> | string;
  /** First version whose tools have it. */
  readonly since: '4.8' | '4.9' | '5.x';
  /** What it becomes in the plan, or why there is nothing for it to become. */
  readonly here: string;
  /** `note`: the run goes on without it and says so; `refused`: there is no such run here. */
  readonly fate?: 'note' | 'refused';
  /** Given with this value it changes nothing. */
  readonly idle?: string;
}

export type ToolKind = 'producer' | 'consumer' | 'batchproducer' | 'tproducer';
export const TOOL_KINDS: readonly ToolKind[] = [
  'producer',
  'consumer',
  'batchproducer',
  'tproducer',
];

/** As the class of each tool is called. */
export const TOOL_NAMES: Readonly<Record<ToolKind, string>> = {
  producer: 'Producer',
  consumer: 'Consumer',
  batchproducer: 'BatchProducer',
  tproducer: 'TransactionProducer',
};
