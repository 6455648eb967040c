export { type AgentLateness, type GeneratorFacts, GeneratorWatch } from './generator-watch.ts';
export type {
  AgentRecord,
  ReportInput,
  RunFacts,
  RunOutcome,
  ScaledValue,
  StageRecord,
} from './input.ts';
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
