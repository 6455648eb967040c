import { RunAggregate } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import { GeneratorWatch } from '@squall/core/report';
import { Judge } from '@squall/core/thresholds';
import { SAVED_RUN_VERSION, type SavedRun } from '../../src/run/checkpoint/saved-run.ts';
import { planOf } from '../plans.ts';

/** A run without agents that has just begun. */
export function savedRunOf(id: string, more: Partial<SavedRun> = {}): SavedRun {
  const plan: Plan = planOf({ stages: [{ forUs: 1_000_000 }] });
  return {
    version: SAVED_RUN_VERSION,
    clockDomain: 'here',
    savedUs: 2_000_000,
    savedUtcMs: 2_000,
    id: { full: id, short: 'abcdefgh' },
    plan,
    options: { version: '0.1.0', labels: {}, strict: false, timeout: false, scale: 1, scaled: [] },
    submittedUs: 0,
    submittedUtcMs: 0,
    startUs: 1_000_000,
    loadEndUs: null,
    overUs: null,
    cut: null,
    hurry: 0,
    warnings: [],
    busWatch: {
      interruptions: 0,
      interruptedUs: 0,
      reason: null,
      gaps: 0,
      memory: [],
      long: [],
      states: [],
    },
    agents: [],
    orders: { standing: [{ type: 'advance', stage: 0, at: 1_000_000 }], reports: [] },
    stages: [],
    probes: { book: {}, judge: { lines: [] }, balance: null },
    measured: {
      aggregate: new RunAggregate(id).toJSON(),
      judge: new Judge({ plan, agents: [] }).toJSON(),
      generator: [...new GeneratorWatch().toJSON()],
    },
    ...more,
  };
}
