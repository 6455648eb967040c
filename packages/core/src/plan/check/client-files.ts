import { AddressSpread } from '../../partition/index.ts';
import { compileTemplate, type Template } from '../../template/index.ts';
import type { NormalContext } from '../normal/context.ts';
import type { Group, Plan, Target } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import { clientContext } from './client-context.ts';

/** Certificates and keys, one for all or one a client: each of them is there, and read. */
export function checkClientFiles(
  { groups, targets }: Pick<Plan, 'groups' | 'targets'>,
  context: NormalContext,
): void {
  for (const target of Object.values(targets)) {
    for (const word of ['cert', 'key'] as const) {
      const text = target.tls?.[word] ?? null;
      if (text === null) continue;
      const path = ['targets', target.name, 'tls', word];
      const template = compileTemplate(text);
      if (template.isStatic && !text.includes('{{')) context.files.read(text, path);
      else checkTemplate(template, { groups, target, path, context });
    }
  }
}

interface Place {
  readonly groups: readonly Group[];
  readonly target: Target;
  readonly path: PlanPath;
  readonly context: NormalContext;
}

function checkTemplate(template: Template, { groups, target, path, context }: Place): void {
  if (target.protocol !== 'mqtt') return;
  for (const group of groups) {
    if (group.target !== target.name || !isKnown(template, group)) continue;
    const spread = new AddressSpread(target.spread, target.urls.length, group.clients);
    const table = context.tables.get(group.name) ?? null;
    for (let n = 0; n < group.clients; n++) {
      const name = template.render(clientContext(group, n, { spread, table }));
      // The first file that is not there says enough about the others.
      if (context.files.read(name, path) === null) return;
    }
  }
}

/** Columns that are missing are told where they are used. */
function isKnown(template: Template, group: Group): boolean {
  return template.parts.every(
    (part) => part.kind !== 'csv' || group.from?.columns.includes(part.name) === true,
  );
}
