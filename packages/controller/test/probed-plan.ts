import type { Plan, ProbeSpec } from '@squall/core/plan';
import { connect, planOf, publish } from './plans.ts';

const SECOND = 1_000_000;

export interface ProbedNeeds {
  readonly probes: readonly ProbeSpec[];
  /** The figure that must come to agree with what the devices had acknowledged. */
  readonly figure: { readonly probe: string; readonly figure: string };
  readonly settleS: number;
  readonly more?: Pick<Parameters<typeof planOf>[0], 'thresholds' | 'limits'>;
}

/** Devices connect and publish for two seconds, beside probes and a balance with one of them. */
export function probedPlan({ probes, figure, settleS, more }: ProbedNeeds): Plan {
  const text = `${figure.probe}.${figure.figure}`;
  return {
    ...planOf({
      stages: [
        { name: 'connect', activities: [connect] },
        { name: 'publish', activities: [publish], forUs: 2 * SECOND },
      ],
      ...more,
    }),
    probes,
    balance: {
      equations: [
        {
          kind: 'equal',
          sides: [
            { kind: 'counter', text: 'devices.acked', subject: 'devices', metric: 'acked' },
            { kind: 'probe', text, ...figure },
          ],
        },
      ],
      maxUs: settleS * SECOND,
      duplicates: false,
    },
  };
}
