import type { Plan, ProbeSource } from '../plan/plan.ts';

const HIDDEN = '***';

/** Passwords stand in no report, wherever they came from. */
export function redactPlan(plan: Plan): Record<string, unknown> {
  return {
    ...plan,
    vars: redactVars(plan.vars),
    probes: plan.probes.map((probe) => ({ ...probe, source: redactSource(probe.source) })),
    groups: plan.groups.map((group) => ({
      ...group,
      password: group.password === null ? null : HIDDEN,
    })),
  };
}

/** Passwords in addresses, and whatever headers say. */
function redactSource(source: ProbeSource): ProbeSource {
  const url = withoutCredentials(source.url);
  if (!('headers' in source)) return { ...source, url };
  const headers = Object.fromEntries(Object.keys(source.headers).map((name) => [name, HIDDEN]));
  return { ...source, url, headers };
}

function withoutCredentials(text: string): string {
  return text.replaceAll(/(\/\/)[^/?#\s]*@/g, `$1${HIDDEN}@`);
}

/** Values that look like a secret by their name, and the credentials in addresses. */
export function redactVars(vars: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [
      name,
      /pass|secret|token|credential|private|api_?key/i.test(name)
        ? HIDDEN
        : withoutCredentials(value),
    ]),
  );
}
