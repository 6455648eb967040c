export { buildReport } from './build.ts';
export {
  type AgentLateness,
  type GeneratorFacts,
  GeneratorWatch,
  type GeneratorWatchState,
} from './generator-watch.ts';
export type {
  AgentRecord,
  BusTrouble,
  ReportInput,
  RunFacts,
  RunOutcome,
  ScaledValue,
  StageRecord,
} from './input.ts';
export { checkReport } from './invariants.ts';
export { toJunit } from './junit.ts';
export {
  type Book,
  type Figures,
  type Finding,
  type GroupFigures,
  type Report,
  REPORT_SCHEMA,
  reportSchema,
  type StageEnd,
  type Times,
  type ValidityState,
  type Verdict,
} from './model.ts';
export { redactPlan, redactVars } from './redact.ts';
export { type Decision, decide, EXIT_CODES, type VerdictInput } from './verdict.ts';
