import type { z } from 'zod';
import { group } from './groups.ts';
import { probe } from './probes.ts';
import {
  type GroupFile,
  type PlanFile,
  planFile,
  type ProbeFile,
  type StageFile,
} from './plan-file.ts';
import { stage } from './stages.ts';
import { target } from './targets.ts';

/** What is left of a plan file that has faults: enough to go on looking for more. */
export interface SoundParts {
  readonly file: PlanFile;
  /** Groups that are only known by name: nothing can be said about what they do. */
  readonly unsound: ReadonlySet<string>;
}

type Target = PlanFile['targets'][string];

const STAND_IN_TARGET: Target = {
  protocol: 'mqtt',
  urls: [],
  version: '3.1.1',
  spread: 'round-robin',
};

/**
 * Takes the parts that are well formed and puts a silent stand-in in the place of each other one, so
 * that names keep their meaning and places their index. Null where there is no map at all.
 */
export function soundParts(root: unknown): SoundParts | null {
  if (!isMap(root)) return null;
  const unsound = new Set<string>();
  const groups = mapOf(root['groups']).map(([name, raw]): [string, GroupFile] => {
    const parsed = group.safeParse(raw);
    if (parsed.success) return [name, parsed.data];
    unsound.add(name);
    return [name, standInGroup(raw, root)];
  });
  const targets = mapOf(root['targets']).map(([name, raw]): [string, Target] => {
    const parsed = target.safeParse(raw);
    return [name, parsed.success ? parsed.data : STAND_IN_TARGET];
  });
  const stages = listOf(root['stages']).map((raw, index): StageFile => {
    const parsed = stage.safeParse(raw);
    return parsed.success ? parsed.data : standInStage(raw, index);
  });
  const probes = mapOf(root['probes']).flatMap(([name, raw]): [string, ProbeFile][] => {
    const parsed = probe.safeParse(raw);
    if (parsed.success) return [[name, parsed.data]];
    unsound.add(name);
    return [];
  });
  const { shape } = planFile;
  const file: PlanFile = {
    squall: '1',
    name: '',
    description: '',
    labels: {},
    vars: {},
    targets: Object.fromEntries(targets),
    groups: Object.fromEntries(groups),
    stages,
    probes: Object.fromEntries(probes),
    thresholds: [...listOf(root['thresholds'])],
    limits: sound(shape.limits, root['limits'], shape.limits.parse(undefined)),
    settle: sound(shape.settle, root['settle'], shape.settle.parse(undefined)),
    drain: 0,
    backlog: 0,
    cleanup: false,
  };
  return { file, unsound };
}

function sound<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  fallback: z.output<Schema>,
): z.output<Schema> {
  const parsed = schema.safeParse(raw);
  return parsed.success ? parsed.data : fallback;
}

/** It names a target that exists where its own is no text. */
function standInGroup(raw: unknown, root: Readonly<Record<string, unknown>>): GroupFile {
  const named = isMap(raw) ? raw['target'] : undefined;
  const known = mapOf(root['targets'])[0]?.[0] ?? '';
  return {
    ...group.parse({ target: 'none', clients: 1 }),
    target: typeof named === 'string' ? named : known,
  };
}

/** A stage with a length says nothing more about itself. */
function standInStage(raw: unknown, index: number): StageFile {
  const named = isMap(raw) ? raw['name'] : undefined;
  return {
    ...stage.parse({ name: 'unsound', for: '1s' }),
    // No stage can have such a name, so it meets no other.
    name: typeof named === 'string' ? named : `#${index}`,
  };
}

function mapOf(value: unknown): [string, unknown][] {
  return isMap(value) ? Object.entries(value) : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
