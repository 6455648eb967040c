import { clockDomain } from '@squall/agent/host';
import { HookReceiver } from '@squall/probes/webhook';
import type { HostAndPort } from '../option-values.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupts } from '../processes/interrupts.ts';
import { hookLine, hookSummary } from '../terminal/hook-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface SinkWebhookOptions {
  readonly listen: HostAndPort;
  readonly status: number;
  /** µs. */
  readonly delay?: number;
  readonly errorShare?: number;
  /** Bytes. */
  readonly bodyLimit?: number;
  readonly json?: boolean;
}

const REDRAW_MS = 1_000;
/** Where there is no terminal, a line so often. */
const LINE_EVERY = 10;

/** `squall sink webhook`: takes requests until it is told to end, then says what came. */
export async function sinkWebhookCommand(
  options: SinkWebhookOptions,
  terminal: Terminal,
): Promise<void> {
  const { listen, status, delay, errorShare, bodyLimit } = options;
  const hook = await HookReceiver.open({
    ...listen,
    clockDomain: clockDomain(),
    status,
    ...(delay === undefined ? {} : { delayUs: delay }),
    ...(errorShare === undefined ? {} : { errorShare }),
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
  });
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  terminal.log(`webhook on http://${host}:${hook.port}/ · figures on /stats and /metrics`);
  const stopShowing = show(hook, terminal);
  await new Promise<void>((resolve) => {
    onInterrupts({
      graceful: () => resolve(),
      hard: () => resolve(),
      leave: () => process.exit(EXIT.internal),
    });
  });
  stopShowing();
  await hook.close();
  const stats = hook.stats();
  if (options.json === true) terminal.print(`${JSON.stringify(stats)}\n`);
  else terminal.print(`${hookSummary(stats).join('\n')}\n`);
}

/** One line in place on a terminal; elsewhere a line now and then, where something came. */
function show(hook: HookReceiver, terminal: Terminal): () => void {
  let rounds = 0;
  let before = hook.stats();
  let shown = before.requests;
  const isScreen = process.stderr.isTTY;
  const timer = setInterval(() => {
    const now = hook.stats();
    const line = hookLine(now, now.requests - before.requests);
    before = now;
    rounds += 1;
    if (isScreen) terminal.error(`\r\u001B[K${line}`);
    else if (rounds % LINE_EVERY === 0 && now.requests > shown) {
      shown = now.requests;
      terminal.log(line);
    }
  }, REDRAW_MS);
  return () => {
    clearInterval(timer);
    if (isScreen) terminal.error('\r\u001B[K');
  };
}
