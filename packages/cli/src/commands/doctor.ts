import { spawnSync } from 'node:child_process';
import { availableParallelism, hostname } from 'node:os';
import {
  askClock,
  examineHost,
  type HostFinding,
  type HostReading,
  readHost,
  tuningScript,
  withOwnSources,
} from '@squall/agent/host';
import { SquallError } from '@squall/core/errors';
import { type AgentShare, split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { formatCount } from '@squall/core/units';
import { EXIT } from '../exit-codes.ts';
import { loadPlan } from '../plan-file.ts';
import { agentName } from '../processes/local-fleet.ts';
import type { Style } from '../terminal/style.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The tuning script ends by itself; it only writes files. */
const SCRIPT_TIMEOUT_MS = 60_000;

export interface DoctorOptions {
  readonly agents?: number;
  readonly agentsHere?: number;
  readonly workers?: number;
  readonly var?: Readonly<Record<string, string>>;
  readonly scale?: number;
  readonly fix?: true;
  readonly apply?: true;
  readonly json?: true;
}

/**
 * `squall doctor`: whether this host can carry a plan, or is fit for much load, and what mends it.
 * @returns the exit code: 113 where an agent here would refuse its share.
 * @throws PlanRefused. @throws SquallError SQ_USAGE for options that contradict each other.
 */
export async function doctorCommand(
  file: string | undefined,
  options: DoctorOptions,
  terminal: Terminal,
): Promise<number> {
  if (options.fix && options.apply !== true) {
    terminal.print(tuningScript());
    return EXIT.ok;
  }
  if (options.apply) return applyScript(options, terminal);
  const read = readHost();
  const host = { ...read, clockSynchronised: read.clockSynchronised ?? askClock() };
  const work = file === undefined ? null : await workOf(file, options);
  const findings = [...sourceFindings(work), ...examineHost({ host, work })];
  const about = aboutHost(host, work);
  if (options.json) terminal.print(`${JSON.stringify({ ...about, findings }, null, 2)}\n`);
  else terminal.print(doctorText({ about, findings, style: terminal.style }));
  return findings.some(({ state }) => state === 'fail') ? EXIT.agents : EXIT.ok;
}

interface Work {
  readonly plan: Plan;
  readonly agents: number;
  readonly workers: number;
  /** Of the agents that are on this host. */
  readonly shares: readonly AgentShare[];
  /** Groups whose source addresses this host has none of. */
  readonly noSources: readonly string[];
}

async function workOf(file: string, options: DoctorOptions): Promise<Work> {
  // Asked where the plan is to be run, perhaps before its secrets are there.
  const { plan: asWritten } = loadPlan({
    file,
    vars: options.var,
    scale: options.scale,
    env: process.env,
    missingEnv: 'warning',
  });
  const { plan, problems: noSources } = await withOwnSources(asWritten);
  const agents = options.agents ?? plan.limits.agents.count ?? 1;
  const here = options.agentsHere ?? 1;
  if (here > agents) {
    throw new SquallError('SQ_USAGE', `${here} of ${agents} agents cannot be on this host`, {
      hint: 'give --agents, how many share the plan, and --agents-here, how many of them are here',
    });
  }
  const workers = options.workers ?? Math.max(1, Math.floor(availableParallelism() / here));
  const weights = Array.from({ length: agents }, (_, k) => ({
    agent: agentName(k, agents),
    workers,
  }));
  const sizes = plan.groups.map(({ clients }) => clients);
  // The first ones get what does not divide: their share is the largest.
  return { plan, agents, workers, shares: split(sizes, weights).slice(0, here), noSources };
}

function sourceFindings(work: Work | null): HostFinding[] {
  return (work?.noSources ?? []).map((why) => ({
    check: 'source addresses',
    state: 'fail',
    is: 'none of them is an address of this host',
    needs: 'one at least',
    why,
    mend: [],
  }));
}

interface About {
  readonly host: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly plan: string | null;
  readonly agents: number | null;
  readonly agentsHere: number | null;
  readonly workers: number | null;
  readonly clientsHere: number | null;
}

function aboutHost(host: HostReading, work: Work | null): About {
  const shares = work?.shares ?? [];
  const clients = shares.flatMap(({ workers }) => workers.flatMap(({ groups }) => groups));
  return {
    host: hostname(),
    cores: host.cores,
    memoryBytes: host.memoryBytes,
    plan: work?.plan.name ?? null,
    agents: work?.agents ?? null,
    agentsHere: work === null ? null : shares.length,
    workers: work?.workers ?? null,
    clientsHere: work === null ? null : clients.reduce((sum, range) => sum + range.clients, 0),
  };
}

function doctorText(given: {
  readonly about: About;
  readonly findings: readonly HostFinding[];
  readonly style: Style;
}): string {
  const { about, findings, style } = given;
  const gibibytes = (about.memoryBytes / 1024 ** 3).toFixed(1);
  const lines = [
    `host   ${about.host} · ${about.cores} cores · ${gibibytes} GiB`,
    `plan   ${planText(about)}`,
    '',
    ...findings.flatMap((finding) => findingLines(finding, style)),
    '',
    summaryLine(findings, style),
  ];
  return `${lines.join('\n')}\n`;
}

function planText({ plan, agents, agentsHere, workers, clientsHere }: About): string {
  if (plan === null) return 'none given: what is asked of a host for much load';
  const which = agents === 1 ? 'the one agent' : `${agentsHere} of ${agents} agents`;
  return `${plan} · ${which} on this host, ${workers} workers each, ${formatCount(clientsHere ?? 0)} clients`;
}

const INDENT = ' '.repeat(6);

function findingLines({ check, state, is, needs, why, mend }: HostFinding, style: Style): string[] {
  const paint = { ok: style.green, warn: style.yellow, fail: style.red }[state];
  const wanted = needs === '' ? '' : style.dim(` · needs ${needs}`);
  const head = `${paint(state.padEnd(4))}  ${style.bold(check)}: ${is}${wanted}`;
  return [
    head,
    ...(why === '' ? [] : [`${INDENT}${why}`]),
    ...mend.map((command, k) => `${INDENT}${k === 0 ? 'mend' : 'or  '}  ${command}`),
  ];
}

function summaryLine(findings: readonly HostFinding[], style: Style): string {
  const count = (state: HostFinding['state']) =>
    findings.filter((finding) => finding.state === state).length;
  const [fails, warns] = [count('fail'), count('warn')];
  if (fails > 0) {
    const what = `${fails} of ${findings.length} checks fail`;
    return `${style.red(what)}: an agent on this host refuses its share. Settings: squall doctor --fix`;
  }
  if (warns > 0) return `${style.yellow(`${warns} warnings`)}. Settings: squall doctor --fix`;
  return style.green('all is well');
}

function applyScript(options: DoctorOptions, terminal: Terminal): number {
  if (options.fix !== true) {
    throw new SquallError('SQ_USAGE', '--apply belongs to --fix', {
      hint: 'look at what it does first: squall doctor --fix; then squall doctor --fix --apply',
    });
  }
  const done = spawnSync('sh', ['-s', 'apply'], {
    input: tuningScript(),
    encoding: 'utf8',
    timeout: SCRIPT_TIMEOUT_MS,
  });
  terminal.print(done.stdout ?? '');
  terminal.error(done.stderr ?? '');
  if (done.error !== undefined) {
    throw new SquallError('SQ_OUTPUT', 'the tuning script could not be run', {
      hint: 'print it with squall doctor --fix and run it by hand',
      cause: done.error,
    });
  }
  // 1: something was refused, and said so; the agents have less than was asked for.
  if (done.status === 0) return EXIT.ok;
  return done.status === 1 ? EXIT.agents : EXIT.usage;
}
