import { parseTemplate } from '../template/index.ts';
import type { Plan } from './plan.ts';

/** Names of the environment variables that the plan's templates need, sorted. */
export function requiredSecrets(plan: Pick<Plan, 'groups'>): string[] {
  const names = new Set<string>();
  for (const group of plan.groups) {
    const texts = [
      group.clientId,
      group.username ?? '',
      group.password ?? '',
      ...group.publish.map((stream) => stream.topic),
      ...group.subscribe.flatMap((entry) => entry.topics),
    ];
    for (const name of texts.flatMap(secretsOf)) names.add(name);
  }
  return [...names].toSorted();
}

function secretsOf(text: string): string[] {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return [];
  return parsed.parts.flatMap((part) => (part.kind === 'env' ? [part.name] : []));
}
