import {
  type PlanProblem,
  type Plan,
  readPlan,
  type ReadPlanOptions,
} from '../../src/plan/index.ts';

type Part = Readonly<Record<string, unknown>>;

/** A small plan that is right; what a test is about is put over it. Undefined takes a key out. */
export function planOf(parts: Part = {}, group: Part = {}): Record<string, unknown> {
  return {
    squall: 1,
    name: 'small',
    targets: { broker: { protocol: 'mqtt', urls: ['mqtt://127.0.0.1'] } },
    groups: {
      devices: {
        target: 'broker',
        clients: 100,
        publish: { topic: 'up/{{n}}', qos: 1, payload: '200B', every: '1s' },
        ...group,
      },
    },
    stages: [{ name: 'load', run: { devices: 'publish' }, for: '10s' }],
    ...parts,
  };
}

/** The stream of `devices` with something else in it. */
export function streamOf(stream: Part): Record<string, unknown> {
  return planOf({}, { publish: { topic: 'up/{{n}}', payload: '200B', every: '1s', ...stream } });
}

export function accepted(plan: unknown, options: ReadPlanOptions = {}): Plan {
  const read = readPlan(textOf(plan), options);
  if (!read.ok) throw new Error(`the plan was refused: ${JSON.stringify(read.errors)}`);
  return read.plan;
}

export function refused(plan: unknown, options: ReadPlanOptions = {}): readonly PlanProblem[] {
  const read = readPlan(textOf(plan), options);
  if (read.ok) throw new Error('the plan was accepted');
  return read.errors;
}

/** `path: message` of every error, in order. */
export function complaints(plan: unknown, options: ReadPlanOptions = {}): string[] {
  return refused(plan, options).map(({ path, message }) => `${path}: ${message}`);
}

function textOf(plan: unknown): string {
  return typeof plan === 'string' ? plan : JSON.stringify(plan, null, 2);
}
