import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { writeReport, writeWhole } from '@squall/controller';
import {
  report as reportSchema,
  run as runSchema,
  runEvents,
  submittedRun,
} from '@squall/controller/api';
import { toJunit } from '@squall/core/report';
import { EXIT } from '../exit-codes.ts';
import { DEFAULT_OUT, filesText, prepareOutput } from '../output-files.ts';
import { loadPlan, readPlanText } from '../plan-file.ts';
import { onInterrupts } from '../processes/interrupts.ts';
import type { ControllerClient } from '../remote/client.ts';
import { runEventsOf } from '../remote/events.ts';
import { clientOf } from '../remote/options.ts';
import { LiveView } from '../terminal/live-view.ts';
import { reportSummary } from '../terminal/summary.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { showEvent } from './follow.ts';
import type { RunCommandOptions } from './run-options.ts';

/**
 * `squall run --controller`: hands the plan to a controller, watches the run there, fetches its report.
 * @returns the exit code: that of the verdict; 114 where the wait ended before the run.
 */
export async function remoteRunCommand(
  planFile: string,
  options: RunCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const client = clientOf(options);
  const { var: vars = {}, label: labels = {}, scale, strict, agents, wait = true } = options;
  // What can be known here is told here, before anything is asked for.
  const loaded = loadPlan({ file: planFile, vars, labels, scale, env: process.env });
  for (const warning of loaded.warnings) terminal.error(`${warning}\n`);
  if (wait) await prepareOutput(options);
  const submitted = await client.json('/v1/runs', submittedRun, {
    method: 'POST',
    planName: planFile,
    // An answer that was lost on its way does not make a second run.
    headers: { 'idempotency-key': randomUUID() },
    body: {
      text: readPlanText(planFile),
      vars,
      labels,
      env: loaded.secrets,
      files: loaded.material.files,
      ...(scale === undefined ? {} : { scale }),
      ...(strict === undefined ? {} : { strict }),
      ...(agents === undefined ? {} : { agents }),
    },
  });
  if (!wait) {
    terminal.print(`${submitted.id}\n`);
    return EXIT.ok;
  }
  if (options.quiet !== true) {
    terminal.print(`run      ${submitted.id} on ${client.url}\nplan     ${loaded.about}\n`);
  }
  return followRemote({ client, run: submitted.id, options, terminal });
}

export interface RemoteRun {
  readonly client: ControllerClient;
  readonly run: string;
  readonly options: Pick<RunCommandOptions, 'out' | 'junit' | 'quiet' | 'timeout'>;
  readonly terminal: Terminal;
}

/** Watches a run to its end and fetches its report. @returns the exit code. */
export async function followRemote(remote: RemoteRun): Promise<number> {
  const { client, run, options, terminal } = remote;
  const view = new LiveView({
    screen: terminal.out,
    style: terminal.style,
    quiet: options.quiet ?? false,
    now: Date.now,
  });
  const waiting = new AbortController();
  const patience =
    options.timeout === undefined
      ? undefined
      : setTimeout(() => waiting.abort(), options.timeout / 1_000);
  const stopListening = onInterrupts(stopSteps(remote, view));
  try {
    for await (const { type, data } of runEventsOf(client, run, waiting.signal)) {
      showRemoteEvent(type, data, view);
    }
  } finally {
    clearTimeout(patience);
    stopListening();
    view.end();
  }
  if (waiting.signal.aborted) {
    terminal.error(`the wait is over, the run goes on: squall status ${run} --wait\n`);
    return EXIT.waitTimeout;
  }
  return conclude(remote);
}

/** The files first: whatever happens to the terminal, the report is there. */
async function conclude({ client, run, options, terminal }: RemoteRun): Promise<number> {
  const record = await client.json(`/v1/runs/${run}`, runSchema);
  const hasReport = await client.request(`/v1/runs/${run}/report`).catch(() => null);
  if (hasReport === null) {
    for (const reason of record.reasons) terminal.error(`${reason}\n`);
    return record.exitCode ?? EXIT.internal;
  }
  const report = reportSchema.parse(await hasReport.json());
  const folder = options.out ?? path.join(DEFAULT_OUT, run);
  const files = await writeReport(folder, report);
  if (options.junit !== undefined) await writeWhole(options.junit, toJunit(report));
  terminal.print(reportSummary(report, terminal.style));
  terminal.print(filesText(files, options.junit));
  return report.exitCode;
}

/** What is not known here comes from a newer controller, and is nothing that has to be shown. */
function showRemoteEvent(type: string, data: unknown, view: LiveView): void {
  if (type === 'missed') view.warn('some of what happened before cannot be told any more');
  if (!Object.hasOwn(runEvents, type)) return;
  switch (type) {
    case 'state':
      showEvent({ type, ...runEvents.state.parse(data) }, view);
      return;
    case 'stage':
      showEvent({ type, ...runEvents.stage.parse(data) }, view);
      return;
    case 'warning':
      showEvent({ type, ...runEvents.warning.parse(data) }, view);
      return;
    case 'progress':
      showEvent({ type, ...runEvents.progress.parse(data) }, view);
  }
}

function stopSteps({ client, run }: RemoteRun, view: LiveView) {
  const stop = (mode: 'graceful' | 'hard', text: string) => {
    view.warn(text);
    client
      .request(`/v1/runs/${run}/stop`, { method: 'POST', body: { mode } })
      .catch((error: unknown) => view.warn(`the run could not be stopped: ${String(error)}`));
  };
  return {
    graceful: () =>
      stop('graceful', 'ending the load; once more cuts it off, a third time only leaves'),
    hard: () => stop('hard', 'cutting the load off; once more leaves at once'),
    leave: () => process.exit(EXIT.signal),
  };
}
