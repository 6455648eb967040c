import type { RunScene } from './commands/run.ts';
import type { ControllerCommandOptions } from './commands/run-options.ts';
import type { BenchActions } from './bench-program.ts';
import type { RocketmqActions } from './rocketmq-program.ts';
import type { HostActions } from './host-program.ts';
import type { Actions } from './program.ts';
import type { RemoteActions } from './remote-program.ts';
import type { SinkActions } from './sink-program.ts';

/** Takes the exit code of a command that has one of its own. */
export type ExitWith = (code: number) => void;

/**
 * What each command does. Each loads what it needs and no more: a machine may run many agents, each
 * a process.
 */
export function actionsFor(scene: RunScene, exitWith: ExitWith): Actions {
  return {
    ...runActions(scene, exitWith),
    ...remoteActions(scene, exitWith),
    ...hostActions(scene, exitWith),
    init: async (file, options) => {
      const { initCommand } = await import('./commands/init.ts');
      await initCommand(file, options, scene.terminal);
    },
    completion: (script) => Promise.resolve(scene.terminal.print(script)),
  };
}

type RunActions = Pick<Actions, 'run' | 'check' | 'import' | 'remoteRun' | 'controller'> &
  BenchActions &
  RocketmqActions;

function runActions(scene: RunScene, exitWith: ExitWith): RunActions {
  const { terminal } = scene;
  return {
    run: async (plan, options) => {
      const { runCommand } = await import('./commands/run.ts');
      exitWith(await runCommand(plan, options, scene));
    },
    bench: async (kind, given) => {
      const { benchCommand } = await import('./commands/bench.ts');
      exitWith(await benchCommand(kind, given, scene));
    },
    rocketmq: async (kind, given) => {
      const { rocketmqCommand } = await import('./commands/rocketmq.ts');
      exitWith(await rocketmqCommand(kind, given, scene));
    },
    check: async (plan, options) => {
      const { checkCommand } = await import('./commands/check.ts');
      exitWith(await checkCommand(plan, options, terminal));
    },
    import: async (file, options) => {
      const { importCommand } = await import('./commands/import.ts');
      exitWith(importCommand(file, options, terminal));
    },
    remoteRun: async (plan, options) => {
      const { remoteRunCommand } = await import('./commands/remote-run.ts');
      exitWith(await remoteRunCommand(plan, options, terminal));
    },
    controller: async (options) => {
      const { plan } = options;
      if (plan === undefined) {
        const { serveCommand } = await import('./commands/serve.ts');
        await serveCommand(options, scene);
        return;
      }
      const { runCommand } = await import('./commands/run.ts');
      exitWith(await runCommand(plan, overExternalAgents(options), scene));
    },
  };
}

function remoteActions({ terminal }: RunScene, exitWith: ExitWith): RemoteActions {
  return {
    runs: async (options) => {
      const { runsCommand } = await import('./commands/remote.ts');
      await runsCommand(options, terminal);
    },
    status: async (run, options) => {
      const { statusCommand } = await import('./commands/remote.ts');
      exitWith(await statusCommand(run, options, terminal));
    },
    stop: async (run, options) => {
      const { stopCommand } = await import('./commands/remote.ts');
      await stopCommand(run, options, terminal);
    },
    report: async (run, options) => {
      const { reportCommand } = await import('./commands/remote.ts');
      await reportCommand(run, options, terminal);
    },
    clean: async (run, options) => {
      const { cleanCommand } = await import('./commands/clean.ts');
      exitWith(await cleanCommand(run, options, terminal));
    },
    agents: async (options) => {
      const { agentsCommand } = await import('./commands/remote.ts');
      await agentsCommand(options, terminal);
    },
  };
}

function hostActions(
  { terminal }: RunScene,
  exitWith: ExitWith,
): HostActions & SinkActions & Pick<Actions, 'agent' | 'broker'> {
  return {
    sinkWebhook: async (options) => {
      const { sinkWebhookCommand } = await import('./commands/sink-webhook.ts');
      await sinkWebhookCommand(options, terminal);
    },
    doctor: async (plan, options) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      exitWith(await doctorCommand(plan, options, terminal));
    },
    agent: async (options) => {
      const { agentCommand } = await import('./commands/agent.ts');
      await agentCommand(options, terminal);
    },
    broker: async () => {
      const { runBroker } = await import('./commands/broker.ts');
      await runBroker();
    },
  };
}

/** `squall controller` is a run that starts no agents of its own. */
function overExternalAgents({ agents, ...options }: ControllerCommandOptions) {
  return agents === undefined ? options : { ...options, agentsExternal: agents };
}
