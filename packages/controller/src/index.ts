/**
 * The controller: agents dial in, plans are handed in as runs, each run ends in a report. The only
 * part of Squall that knows the whole of a run.
 */
export { type Controller, type ControllerOptions, startController } from './controller.ts';
export type { AgentView } from './hub/agent-view.ts';
export type { ClockEstimate } from './hub/session.ts';
export type { RunTiming } from './limits.ts';
export type { Logger } from './logger.ts';
export {
  prepareReportFolder,
  type ReportFiles,
  writeReport,
  writeWhole,
} from './report/store-files.ts';
export type {
  AgentRunState,
  Progress,
  ProgressAgent,
  ProgressTime,
  RunEvent,
  RunHandle,
  RunState,
} from './run/run-handle.ts';
export type { SubmitOptions } from './run/submit-options.ts';
