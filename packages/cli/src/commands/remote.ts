import {
  agents as agentsSchema,
  run as runSchema,
  runAgents,
  runList,
  thresholds as thresholdsSchema,
} from '@squall/controller/api';
import type { z } from 'zod';
import { writeWhole } from '@squall/controller';
import type { Report } from '@squall/core/report';
import { formatDuration } from '@squall/core/units';
import { REPORT_FORMATS, type ReportFormatName } from '@squall/report';
import { EXIT } from '../exit-codes.ts';
import { type OutputOptions, prepareOutput } from '../output-files.ts';
import { clientOf, type RemoteOptions } from '../remote/options.ts';
import { reportOf } from '../report-file.ts';
import { type Style, styleFor } from '../terminal/style.ts';
import { reportSummary } from '../terminal/summary.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { textTable } from '../terminal/text-table.ts';
import { followRemote } from './remote-run.ts';

interface JsonOption {
  readonly json?: true;
}

export interface RunsOptions extends RemoteOptions, JsonOption {
  readonly label?: Readonly<Record<string, string>>;
  readonly state?: 'active' | 'done';
  readonly limit: number;
}

export interface StatusOptions extends RemoteOptions, JsonOption, OutputOptions {
  readonly wait?: true;
  /** µs. */
  readonly timeout?: number;
  readonly quiet?: true;
}

export interface StopOptions extends RemoteOptions {
  readonly hard?: true;
}

export interface ReportOptions extends RemoteOptions {
  readonly format: ReportFormatName | 'text';
  readonly out?: string;
}

export type AgentsOptions = RemoteOptions & JsonOption;

type Run = z.infer<typeof runSchema>;

/** `squall runs`: the runs of a controller, the newest first. */
export async function runsCommand(options: RunsOptions, terminal: Terminal): Promise<void> {
  const labels = Object.entries(options.label ?? {});
  const query = [
    ['limit', String(options.limit)] as const,
    ...(options.state === undefined ? [] : [['state', options.state] as const]),
    ...labels.map(([key, value]) => ['label', `${key}=${value}`] as const),
  ];
  const { runs } = await clientOf(options).json('/v1/runs', runList, { query });
  if (options.json) terminal.print(`${JSON.stringify(runs, null, 2)}\n`);
  else terminal.print(`${runsText(runs, terminal.style)}\n`);
}

function runsText(runs: readonly Run[], style: Style): string {
  if (runs.length === 0) return 'no runs';
  const head = ['run', 'plan', 'state', 'verdict', 'submitted', 'labels'];
  const rows = runs.map((run) => [
    run.id,
    run.name,
    run.stage === null ? run.state : `${run.state}: ${run.stage}`,
    verdictText(run, style),
    run.submittedAt.slice(0, 19).replace('T', ' '),
    Object.entries(run.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
  ]);
  return textTable([head.map((text) => style.dim(text)), ...rows]).join('\n');
}

/** `squall status`: one run; with `--wait` it is watched to its end. @returns the exit code. */
export async function statusCommand(
  id: string,
  options: StatusOptions,
  terminal: Terminal,
): Promise<number> {
  const client = clientOf(options);
  const run = await client.json(`/v1/runs/${id}`, runSchema);
  if (options.wait) {
    await prepareOutput(options);
    return followRemote({ client, run: id, options, terminal });
  }
  if (options.json) {
    terminal.print(`${JSON.stringify(run, null, 2)}\n`);
    return EXIT.ok;
  }
  const lines = statusLines(run, terminal.style);
  if (run.startedAt !== null) {
    const judged = await client.json(`/v1/runs/${id}/thresholds`, thresholdsSchema);
    const { agents } = await client.json(`/v1/runs/${id}/agents`, runAgents);
    lines.push(...thresholdLines(judged, terminal.style), ...agentLines(agents));
  }
  terminal.print(`${lines.join('\n')}\n`);
  return EXIT.ok;
}

function statusLines(run: Run, style: Style): string[] {
  const labels = Object.entries(run.labels).map(([key, value]) => `${key}=${value}`);
  return [
    `run      ${run.id}`,
    `plan     ${run.name} (${run.plan})`,
    `state    ${run.stage === null ? run.state : `${run.state}, stage ${run.stage}`}`,
    ...(run.verdict === null ? [] : [`verdict  ${verdictText(run, style)}`]),
    ...run.reasons.map((reason) => `         ${reason}`),
    `times    ${timesText(run)}`,
    ...(labels.length === 0 ? [] : [`labels   ${labels.join(' ')}`]),
    ...(run.notes === '' ? [] : [`notes    ${run.notes}`]),
  ];
}

function timesText({ submittedAt, startedAt, endedAt }: Run): string {
  const parts = [`submitted ${submittedAt}`];
  if (startedAt !== null) parts.push(`started ${startedAt}`);
  if (endedAt !== null) parts.push(`ended ${endedAt}`);
  if (startedAt !== null && endedAt !== null) {
    parts.push(`after ${formatDuration((Date.parse(endedAt) - Date.parse(startedAt)) * 1_000)}`);
  }
  return parts.join(' · ');
}

function thresholdLines(judged: z.infer<typeof thresholdsSchema>, style: Style): string[] {
  if (judged.thresholds.length === 0) return [];
  const rows = judged.thresholds.map(({ state, text, observedText }) => [
    state === 'pass' ? style.green(state) : style.red(state.replace('_', ' ')),
    text,
    observedText,
  ]);
  const head = judged.final ? 'thresholds' : 'thresholds, if the run ended now';
  return [head, ...textTable(rows, { indent: 2 })];
}

function agentLines(agents: z.infer<typeof runAgents>['agents']): string[] {
  if (agents.length === 0) return [];
  const rows = agents.map(({ id, state, reason, framesMissing }) => [
    id,
    state,
    framesMissing === 0 ? '' : `${framesMissing} frames missing`,
    reason ?? '',
  ]);
  return ['agents', ...textTable(rows, { indent: 2 })];
}

function verdictText({ verdict, validity, exitCode }: Run, style: Style): string {
  if (verdict === null) return '–';
  const paint = exitCode === 0 ? style.green : style.red;
  return validity === null || validity === 'valid'
    ? paint(verdict)
    : paint(`${verdict} (${validity})`);
}

/** `squall stop`: asks a run to end. */
export async function stopCommand(
  id: string,
  options: StopOptions,
  terminal: Terminal,
): Promise<void> {
  const mode = options.hard === true ? 'hard' : 'graceful';
  const run = await clientOf(options).json(`/v1/runs/${id}/stop`, runSchema, {
    method: 'POST',
    body: { mode },
  });
  terminal.print(`run ${run.id} is being stopped: squall status ${run.id} --wait\n`);
}

/** `squall report`: the report of a run of a controller or of this machine, in a form of choice. */
export async function reportCommand(
  id: string,
  options: ReportOptions,
  terminal: Terminal,
): Promise<void> {
  const text = reportText(await reportOf(id, options), options, terminal);
  if (options.out === undefined) terminal.print(text);
  else await writeWhole(options.out, text);
}

function reportText(report: Report, { format, out }: ReportOptions, terminal: Terminal): string {
  if (format !== 'text') return REPORT_FORMATS[format].draw(report);
  return reportSummary(report, out === undefined ? terminal.style : styleFor({}, {}));
}

/** `squall agents`: the agents of a controller. */
export async function agentsCommand(options: AgentsOptions, terminal: Terminal): Promise<void> {
  const { agents } = await clientOf(options).json('/v1/agents', agentsSchema);
  if (options.json) {
    terminal.print(`${JSON.stringify(agents, null, 2)}\n`);
    return;
  }
  if (agents.length === 0) {
    terminal.print('no agents\n');
    return;
  }
  const head = ['agent', 'host', 'workers', 'version', 'clock', 'run', 'labels'];
  const rows = agents.map((agent) => [
    agent.id,
    agent.host,
    agent.observes ? 'observes' : String(agent.workers),
    agent.version,
    agent.clock === null ? '–' : `± ${formatDuration(Math.round(agent.clock.boundUs))}`,
    agent.connected ? (agent.run ?? 'idle') : `cut off, ${agent.run ?? 'idle'}`,
    Object.entries(agent.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
  ]);
  terminal.print(
    `${textTable([head.map((text) => terminal.style.dim(text)), ...rows]).join('\n')}\n`,
  );
}
