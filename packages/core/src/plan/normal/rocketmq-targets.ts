import type { RocketmqTarget } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';
import { normaliseTls } from './tls.ts';

export type RocketmqTargetFile = Extract<PlanFile['targets'][string], { protocol: 'rocketmq' }>;

interface Place {
  readonly path: PlanPath;
  readonly context: NormalContext;
}

export function normaliseRocketmqTarget(
  name: string,
  target: RocketmqTargetFile,
  place: Place,
): RocketmqTarget {
  const { path, context } = place;
  const { acl, tls, create } = target;
  if (acl !== undefined && !/\{\{\s*env\./.test(acl.secretKey)) {
    context.findings.warn(
      [...path, 'acl', 'secretKey'],
      'a secret key written into the plan is printed in reports',
      'write {{env.NAME}} and set the environment variable',
    );
  }
  for (const word of ['cert', 'key'] as const) {
    if (tls?.[word]?.includes('{{') !== true) continue;
    context.findings.error([...path, 'tls', word], 'clients of RocketMQ share their connections', {
      hint: 'name one file',
    });
  }
  if (tls?.alpn !== undefined) {
    context.findings.error([...path, 'tls', 'alpn'], 'RocketMQ has no ALPN', { atKey: true });
  }
  return {
    name,
    protocol: 'rocketmq',
    nameServers: target.nameServers,
    acl: acl ?? null,
    tls: tls === undefined ? null : normaliseTls(tls, place),
    connections: target.connections,
    create: create ?? null,
  };
}
