import type { TlsSpec } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';

type TlsFile = NonNullable<PlanFile['targets'][string]['tls']>;

interface Place {
  /** Of the target. */
  readonly path: PlanPath;
  readonly context: NormalContext;
}

/** What a target has where its plan says nothing of TLS. */
export const PLAIN_TLS: TlsSpec = {
  ca: null,
  cert: null,
  key: null,
  servername: null,
  verify: true,
  minVersion: null,
  alpn: [],
  resume: true,
};

export function normaliseTls(tls: TlsFile, { path, context }: Place): TlsSpec {
  const { ca, cert, key } = tls;
  if ((cert === undefined) !== (key === undefined)) {
    const given = cert === undefined ? 'key' : 'cert';
    const message = 'a client certificate needs both cert and key';
    context.findings.error([...path, 'tls', given], message, { atKey: true });
  }
  if (ca !== undefined) readAuthority(ca, [...path, 'tls', 'ca'], context);
  return {
    ca: ca ?? null,
    cert: cert ?? null,
    key: key ?? null,
    servername: tls.servername ?? null,
    verify: tls.verify,
    minVersion: tls.minVersion ?? null,
    alpn: tls.alpn ?? [],
    resume: tls.resume,
  };
}

function readAuthority(name: string, path: PlanPath, { files, findings }: NormalContext): void {
  if (name.includes('{{')) {
    findings.error(path, 'the certificates to trust are the same for all clients');
  } else {
    files.read(name, path);
  }
}
