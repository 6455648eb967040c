import type { Plan } from '../plan/plan.ts';
import type { ProbeSource } from '../plan/probe-spec.ts';
import { withProbeTexts } from '../plan/probe-texts.ts';

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

/** Passwords in addresses, keys of accounts, and whatever headers say. */
function redactSource(source: ProbeSource): ProbeSource {
  return withProbeTexts(source, { address: withoutCredentials, secret: () => HIDDEN });
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
