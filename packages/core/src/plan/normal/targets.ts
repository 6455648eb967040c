import type { BrokerUrl, MqttTarget, TlsSpec, WsSpec } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';

type TargetFile = Extract<PlanFile['targets'][string], { protocol: 'mqtt' }>;

export function normaliseTargets(
  file: PlanFile,
  context: NormalContext,
): Record<string, MqttTarget> {
  const targets: [string, MqttTarget][] = [];
  for (const [name, target] of Object.entries(file.targets)) {
    // The schema has refused every other protocol and version already.
    if (target.protocol !== 'mqtt') continue;
    const at: Place = { target, path: ['targets', name], context };
    targets.push([
      name,
      {
        name,
        protocol: 'mqtt',
        urls: target.urls,
        version: target.version,
        spread: target.spread,
        tls: normaliseTls(at),
        ws: normaliseWs(at),
      },
    ]);
  }
  return Object.fromEntries(targets);
}

interface Place {
  readonly target: TargetFile;
  readonly path: PlanPath;
  readonly context: NormalContext;
}

function normaliseTls({ target, path, context }: Place): TlsSpec | null {
  const { tls, urls } = target;
  const secured = urls.some(isSecured);
  if (!secured) {
    if (tls !== undefined) {
      context.findings.error([...path, 'tls'], 'none of the addresses has TLS', {
        hint: 'write mqtts:// or wss://',
        atKey: true,
      });
    }
    return null;
  }
  if (tls === undefined) return tlsSpec({ verify: true, resume: true });
  const { ca, cert, key } = tls;
  if ((cert === undefined) !== (key === undefined)) {
    const given = cert === undefined ? 'key' : 'cert';
    const message = 'a client certificate needs both cert and key';
    context.findings.error([...path, 'tls', given], message, { atKey: true });
  }
  if (ca !== undefined) readAuthority(ca, [...path, 'tls', 'ca'], context);
  return tlsSpec(tls);
}

function tlsSpec(tls: NonNullable<TargetFile['tls']>): TlsSpec {
  return {
    ca: tls.ca ?? null,
    cert: tls.cert ?? null,
    key: tls.key ?? null,
    servername: tls.servername ?? null,
    verify: tls.verify,
    minVersion: tls.minVersion ?? null,
    alpn: tls.alpn ?? [],
    resume: tls.resume,
  };
}

function normaliseWs({ target, path, context }: Place): WsSpec | null {
  const { ws, urls } = target;
  if (urls.some(isWebSocket)) {
    // [MQTT-6.0.0-3]; MQTT 3.1 knew it by another name.
    const subprotocol = target.version === '3.1' ? 'mqttv3.1' : 'mqtt';
    return { headers: ws?.headers ?? {}, subprotocol };
  }
  if (ws !== undefined) {
    context.findings.error([...path, 'ws'], 'none of the addresses is a WebSocket', {
      hint: 'write ws:// or wss://',
      atKey: true,
    });
  }
  return null;
}

function readAuthority(name: string, path: PlanPath, { files, findings }: NormalContext): void {
  if (name.includes('{{')) {
    findings.error(path, 'the certificates to trust are the same for all clients');
  } else {
    files.read(name, path);
  }
}

function isSecured({ scheme }: BrokerUrl): boolean {
  return scheme === 'mqtts' || scheme === 'wss';
}

function isWebSocket({ scheme }: BrokerUrl): boolean {
  return scheme === 'ws' || scheme === 'wss';
}
