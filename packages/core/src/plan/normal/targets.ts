import type { MqttTarget } from '../plan.ts';
import type { PlanFile } from '../schema/plan-file.ts';

export function normaliseTargets(file: PlanFile): Record<string, MqttTarget> {
  const targets: [string, MqttTarget][] = [];
  for (const [name, target] of Object.entries(file.targets)) {
    // The schema has refused every other protocol and version already.
    if (target.protocol !== 'mqtt') continue;
    targets.push([
      name,
      {
        name,
        protocol: 'mqtt',
        urls: target.urls,
        version: '3.1.1',
        spread: 'round-robin',
        tls: null,
        ws: null,
      },
    ]);
  }
  return Object.fromEntries(targets);
}
