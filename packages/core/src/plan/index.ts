export type {
  PlanFileContent,
  PlanFiles,
  PlanFileSource,
} from './files/plan-files.ts';
export { MAX_FILE_BYTES } from './limits.ts';
export { materialFor, NO_MATERIAL, type PlanMaterial } from './material.ts';
export { planJsonSchema } from './json-schema.ts';
export type * from './balance-spec.ts';
export type * from './plan.ts';
export type * from './probe-spec.ts';
export { formatProblems, type PlanProblem } from './problem.ts';
export { type ReadPlan, readPlan, type ReadPlanOptions } from './read-plan.ts';
export type { ScaledValue } from './scale.ts';
export { withProbeTexts } from './probe-texts.ts';
export { probeSecrets, requiredSecrets } from './secrets.ts';
