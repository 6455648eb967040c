import { type AgentHandle, startAgent } from '@squall/agent';
import { type MetricsServer, serveMetrics } from '@squall/agent/metrics';
import { EXIT } from '../exit-codes.ts';
import type { HostAndPort } from '../option-values.ts';
import { onInterrupts, onParentGone } from '../processes/interrupts.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { joinToken } from '../token.ts';

export interface AgentCommandOptions {
  readonly controller: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly id?: string;
  readonly workers?: number;
  /** It only tells how its host fares. */
  readonly observe?: boolean;
  readonly label?: Readonly<Record<string, string>>;
  /** Where the agent tells Prometheus of its health. */
  readonly metricsListen?: HostAndPort;
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
    ...(options.observe === true ? { observe: true, workers: 1 } : {}),
    labels: options.label ?? {},
    whenControllerIsGone: isChild ? 'exit' : 'wait',
    logger: {
      info: (text) => terminal.log(text),
      warn: (text) => terminal.log(`warning: ${text}`),
    },
  });
  const metrics = await serveStatus(options.metricsListen, agent, terminal);
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
  try {
    await agent.closed;
  } finally {
    await metrics?.close();
  }
  // The link may still be saying goodbye: an interrupt meanwhile must not spoil the exit code.
  left = true;
}

/** What stopping ends in is told by `closed`. */
function stopQuietly(agent: AgentHandle): void {
  agent.stop().catch(() => undefined);
}

/** What cannot be served ends the agent: somebody relies on seeing it. */
async function serveStatus(
  address: HostAndPort | undefined,
  agent: AgentHandle,
  terminal: Terminal,
): Promise<MetricsServer | null> {
  if (address === undefined) return null;
  try {
    const server = await serveMetrics(address, () => agent.status());
    terminal.log(`metrics on http://${address.host}:${server.port}/metrics`);
    return server;
  } catch (error) {
    await agent.stop();
    throw error;
  }
}
