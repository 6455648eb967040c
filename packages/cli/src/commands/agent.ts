import { type AgentHandle, startAgent } from '@squall/agent';
import { EXIT } from '../exit-codes.ts';
import { onInterrupts, onParentGone } from '../processes/interrupts.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { joinToken } from '../token.ts';

export interface AgentCommandOptions {
  readonly controller: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly id?: string;
  readonly workers?: number;
  readonly label?: Readonly<Record<string, string>>;
}

/**
 * `squall agent`: an agent of its own, until it is told to end or can never work. As a child of
 * `squall run` it ends with its parent, and when its controller is gone there is nothing left to
 * wait for.
 */
export async function agentCommand(
  options: AgentCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const isChild = process.channel !== undefined;
  const agent = await startAgent({
    controller: options.controller,
    token: joinToken(options) ?? '',
    ...(options.id === undefined ? {} : { id: options.id }),
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    labels: options.label ?? {},
    whenControllerIsGone: isChild ? 'exit' : 'wait',
    logger: {
      info: (text) => terminal.log(text),
      warn: (text) => terminal.log(`warning: ${text}`),
    },
  });
  let left = false;
  onInterrupts({
    graceful: () => {
      if (left) return;
      terminal.log('ending: the load is stopped gracefully; once more cuts it off');
      stopQuietly(agent);
    },
    hard: () => stopQuietly(agent),
    leave: () => process.exit(left ? EXIT.ok : EXIT.internal),
  });
  onParentGone(() => process.exit(EXIT.internal));
  await agent.closed;
  // The link may still be saying goodbye: an interrupt meanwhile must not spoil the exit code.
  left = true;
}

/** What stopping ends in is told by `closed`. */
function stopQuietly(agent: AgentHandle): void {
  agent.stop().catch(() => undefined);
}
