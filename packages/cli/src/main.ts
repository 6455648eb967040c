import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import type { RunScene } from './commands/run.ts';
import type { ControllerCommandOptions } from './commands/run-options.ts';
import { namedDescriptorFailure } from './descriptor-failure.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { PlanRefused } from './plan-refused.ts';
import { type Actions, buildProgram } from './program.ts';
import { describeFailure } from './terminal/failure.ts';
import { openTerminal, type Terminal } from './terminal/terminal.ts';

/** The command itself: reads the command line, does what it says, ends with the right exit code. */
const terminal = openTerminal(process.env);
process.exitCode = await main(process.argv, terminal);

async function main(argv: readonly string[], to: Terminal): Promise<number> {
  let exitCode: number = EXIT.ok;
  const scene: RunScene = {
    terminal: to,
    version: ownVersion(),
    program: fileURLToPath(import.meta.url),
  };
  // Each command loads what it needs and no more: a machine may run many agents, each a process.
  const actions: Actions = {
    run: async (plan, options) => {
      const { runCommand } = await import('./commands/run.ts');
      exitCode = await runCommand(plan, options, scene);
    },
    remoteRun: async (plan, options) => {
      const { remoteRunCommand } = await import('./commands/remote-run.ts');
      exitCode = await remoteRunCommand(plan, options, to);
    },
    controller: async (options) => {
      const { plan } = options;
      if (plan === undefined) {
        const { serveCommand } = await import('./commands/serve.ts');
        await serveCommand(options, scene);
        return;
      }
      const { runCommand } = await import('./commands/run.ts');
      exitCode = await runCommand(plan, overExternalAgents(options), scene);
    },
    runs: async (options) => {
      const { runsCommand } = await import('./commands/remote.ts');
      await runsCommand(options, to);
    },
    status: async (run, options) => {
      const { statusCommand } = await import('./commands/remote.ts');
      exitCode = await statusCommand(run, options, to);
    },
    stop: async (run, options) => {
      const { stopCommand } = await import('./commands/remote.ts');
      await stopCommand(run, options, to);
    },
    report: async (run, options) => {
      const { reportCommand } = await import('./commands/remote.ts');
      await reportCommand(run, options, to);
    },
    agents: async (options) => {
      const { agentsCommand } = await import('./commands/remote.ts');
      await agentsCommand(options, to);
    },
    check: async (plan, options) => {
      const { checkCommand } = await import('./commands/check.ts');
      checkCommand(plan, options, to);
    },
    doctor: async (plan, options) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      exitCode = doctorCommand(plan, options, to);
    },
    agent: async (options) => {
      const { agentCommand } = await import('./commands/agent.ts');
      await agentCommand(options, to);
    },
    broker: async () => {
      const { runBroker } = await import('./commands/broker.ts');
      await runBroker();
    },
  };
  try {
    await buildProgram(scene.version, actions).parseAsync(argv);
    return exitCode;
  } catch (error) {
    return fail(error, to);
  }
}

/** Tells what went wrong. @returns the exit code. */
function fail(error: unknown, to: Terminal): number {
  // Commander has printed its message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof PlanRefused) {
    to.error(`${error.message}\n`);
    return EXIT.planInvalid;
  }
  const named = namedDescriptorFailure(error);
  to.error(describeFailure(named, to.errorStyle));
  return exitCodeOf(named);
}

/** `squall controller` is a run that starts no agents of its own. */
function overExternalAgents({ agents, ...options }: ControllerCommandOptions) {
  return agents === undefined ? options : { ...options, agentsExternal: agents };
}

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown';
}
