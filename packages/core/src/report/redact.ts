import type { Plan } from '../plan/plan.ts';

const HIDDEN = '***';

/** Passwords stand in no report, wherever they came from. */
export function redactPlan(plan: Plan): Record<string, unknown> {
  return {
    ...plan,
    vars: redactVars(plan.vars),
    groups: plan.groups.map((group) => ({
      ...group,
      password: group.password === null ? null : HIDDEN,
    })),
  };
}

/** Values that look like a secret by their name, and the credentials in addresses. */
export function redactVars(vars: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [
      name,
      /pass|secret|token|credential|private|api_?key/i.test(name)
        ? HIDDEN
        : value.replaceAll(/(\/\/)[^/?#\s]*@/g, `$1${HIDDEN}@`),
    ]),
  );
}
