import type { CsvTable } from '../files/csv.ts';
import type { FileBook } from '../files/file-book.ts';
import type { MqttVersion } from '../plan.ts';
import type { Findings, PlanPath } from '../problem.ts';
import type { Scaler } from '../scale.ts';

/** What every step of the normaliser writes to. */
export interface NormalContext {
  readonly findings: Findings;
  readonly scaler: Scaler;
  readonly files: FileBook;
  /** Rows of the groups that have a CSV file, by the group's name. */
  readonly tables: Map<string, CsvTable>;
  /**
   * Groups that the schema has found wrong: they stand here by name only, so nothing is said about
   * what they do. Null where the file is well formed.
   */
  readonly unsound: ReadonlySet<string> | null;
}

/** A part of a group, and the target that the group talks to. */
export interface GroupPlace {
  readonly path: PlanPath;
  readonly context: NormalContext;
  readonly target: TargetFacts;
}

export interface TargetFacts {
  readonly name: string;
  /** Null where the target itself is wrong. */
  readonly protocol: 'mqtt' | 'rocketmq' | null;
  /** Of RocketMQ: it stands before topics and groups. */
  readonly namespace: string | null;
  /** Null where the target itself is wrong, or speaks another protocol. */
  readonly version: MqttVersion | null;
}

/** Tells a word of MQTT 5 that is used towards a broker of an older version. */
export function needs5(place: GroupPlace, word: string, given: unknown): void {
  const { context, path, target } = place;
  if (given === undefined || target.version === null || target.version === '5') return;
  context.findings.error([...path, word], `${word} needs version: 5`, {
    hint: `the target ${target.name} speaks MQTT ${target.version}: give it version: 5, or leave ${word} out`,
    atKey: true,
  });
}

/** The same part one step deeper. */
export function inside(place: GroupPlace, ...steps: PlanPath): GroupPlace {
  return { ...place, path: [...place.path, ...steps] };
}
