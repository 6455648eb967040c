import { parseTemplate } from '../template/index.ts';
import { groupTemplates } from './group-templates.ts';
import type { Plan } from './plan.ts';
import type { ProbeSource } from './probe-spec.ts';
import { withProbeTexts } from './probe-texts.ts';
import type { PlanPath } from './problem.ts';

/** Names of the environment variables that the plan's templates need, sorted. */
export function requiredSecrets({
  groups,
  targets,
  probes,
}: Pick<Plan, 'groups' | 'targets' | 'probes'>): string[] {
  const names = new Set<string>();
  for (const { source } of probes) for (const name of probeSecrets(source)) names.add(name);
  for (const group of groups) {
    for (const text of groupTemplates(group, targets[group.target])) {
      for (const name of secretsOf(text)) names.add(name);
    }
  }
  return [...names].toSorted();
}

/** The first place of the plan's tree that uses this environment variable; the column is from 1. */
export function secretUse(
  value: unknown,
  name: string,
  path: PlanPath = [],
): { readonly path: PlanPath; readonly column: number } | null {
  if (typeof value === 'string') {
    if (!secretsOf(value).includes(name)) return null;
    const at = value.search(new RegExp(`\\{\\{\\s*env\\.${name}\\s*\\}\\}`));
    return { path, column: at + 1 };
  }
  if (typeof value !== 'object' || value === null) return null;
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, child] of entries) {
    // Variables are looked at where they are used.
    if (path.length === 0 && key === 'vars') continue;
    const found = secretUse(child, name, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

/** Names of the secrets that a probe needs. */
export function probeSecrets(source: ProbeSource): string[] {
  const names: string[] = [];
  const note = (text: string): string => {
    names.push(...secretsOf(text));
    return text;
  };
  withProbeTexts(source, { address: note, secret: note });
  return names;
}

function secretsOf(text: string): string[] {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return [];
  return parsed.parts.flatMap((part) => (part.kind === 'env' ? [part.name] : []));
}
