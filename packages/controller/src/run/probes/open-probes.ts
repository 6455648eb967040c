import type { ProbeSource, ProbeSpec } from '@squall/core/plan';
import { type KeptProbe, openProbe, type Probe, ProbeError } from '@squall/probes';

type Secrets = Readonly<Record<string, string>>;

const SECRET = /\{\{\s*env\.([A-Za-z_]\w*)\s*\}\}/g;

/** The probes of a plan. `secrets`: values of `{{env.NAME}}`. */
export function openProbes(specs: readonly ProbeSpec[], secrets: Secrets): KeptProbe[] {
  return specs.map(({ name, source, intervalUs, timeoutUs }) => ({
    name,
    probe: probeOf(source, secrets),
    intervalUs,
    timeoutUs,
  }));
}

function probeOf(source: ProbeSource, secrets: Secrets): Probe {
  const missing = missingSecret(source, secrets);
  if (missing !== null) return new UnknownSecret(missing);
  // In an address a secret must not end the part that it stands in.
  const url = filled(source.url, secrets, encodeURIComponent);
  if (!('headers' in source)) return openProbe({ ...source, url });
  const headers = Object.fromEntries(
    Object.entries(source.headers).map(([name, value]) => [name, filled(value, secrets, (it) => it)]),
  );
  return openProbe({ ...source, url, headers });
}

function filled(text: string, secrets: Secrets, encode: (value: string) => string): string {
  return text.replaceAll(SECRET, (_, name: string) => encode(secrets[name] ?? ''));
}

function missingSecret(source: ProbeSource, secrets: Secrets): string | null {
  const texts = [source.url, ...('headers' in source ? Object.values(source.headers) : [])];
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(SECRET)) {
      if (secrets[name] === undefined) return name;
    }
  }
  return null;
}

/** Checkpoints hold no secrets: after a restart of the controller such a probe cannot go on. */
class UnknownSecret implements Probe {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  read(): Promise<never> {
    const detail = `{{env.${this.#name}}} was lost with the controller that had it`;
    return Promise.reject(new ProbeError('secret not known', detail));
  }

  async close(): Promise<void> {}
}
