import type { BrokerUrl, Target, TlsSpec, WsSpec } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';
import { normaliseRocketmqTarget } from './rocketmq-targets.ts';
import { normaliseTls, PLAIN_TLS } from './tls.ts';

type TargetFile = Extract<PlanFile['targets'][string], { protocol: 'mqtt' }>;

export function normaliseTargets(file: PlanFile, context: NormalContext): Record<string, Target> {
  const targets: [string, Target][] = [];
  for (const [name, target] of Object.entries(file.targets)) {
    const path = ['targets', name];
    if (target.protocol === 'rocketmq') {
      targets.push([name, normaliseRocketmqTarget(name, target, { path, context })]);
      continue;
    }
    const at: Place = { target, path, context };
    targets.push([
      name,
      {
        name,
        protocol: 'mqtt',
        urls: target.urls,
        version: target.version,
        spread: target.spread,
        tls: tlsOf(at),
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

function tlsOf(at: Place): TlsSpec | null {
  const { target, path, context } = at;
  const { tls, urls } = target;
  if (urls.some(isSecured)) return tls === undefined ? PLAIN_TLS : normaliseTls(tls, at);
  if (tls !== undefined) {
    context.findings.error([...path, 'tls'], 'none of the addresses has TLS', {
      hint: 'write mqtts:// or wss://',
      atKey: true,
    });
  }
  return null;
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

function isSecured({ scheme }: BrokerUrl): boolean {
  return scheme === 'mqtts' || scheme === 'wss';
}

function isWebSocket({ scheme }: BrokerUrl): boolean {
  return scheme === 'ws' || scheme === 'wss';
}
