import { type ProbeSource, type ProbeSpec, probeSecrets, withProbeTexts } from '@squall/core/plan';
import { type KeptProbe, openProbe, type Probe, ProbeError, type ProbeScene } from '@squall/probes';

type Secrets = Readonly<Record<string, string>>;

const SECRET = /\{\{\s*env\.([A-Za-z_]\w*)\s*\}\}/g;

interface Scene extends ProbeScene {
  /** Values of `{{env.NAME}}`. */
  readonly secrets: Secrets;
}

/** The probes of a plan. */
export function openProbes(specs: readonly ProbeSpec[], scene: Scene): KeptProbe[] {
  return specs.map(({ name, source, intervalUs, timeoutUs }) => ({
    name,
    probe: probeOf(source, scene),
    intervalUs,
    timeoutUs,
  }));
}

function probeOf(source: ProbeSource, { secrets, ...scene }: Scene): Probe {
  const missing = probeSecrets(source).find((name) => secrets[name] === undefined);
  if (missing !== undefined) return new UnknownSecret(missing);
  return openProbe(
    withProbeTexts(source, {
      // In an address a secret must not end the part that it stands in.
      address: (text) => filled(text, secrets, encodeURIComponent),
      secret: (text) => filled(text, secrets, (value) => value),
    }),
    scene,
  );
}

function filled(text: string, secrets: Secrets, encode: (value: string) => string): string {
  return text.replaceAll(SECRET, (_, name: string) => encode(secrets[name] ?? ''));
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
