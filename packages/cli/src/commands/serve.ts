import { type Service, startService } from '@squall/controller/service';
import { type EncryptionOptions, encryption } from '../encryption.ts';
import type { HostAndPort } from '../option-values.ts';
import { redisOf, type RedisOptions } from '../redis-options.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { joinToken, type TokenSource } from '../token.ts';

export interface ServeOptions extends TokenSource, RedisOptions, EncryptionOptions {
  readonly listen?: HostAndPort;
  readonly store: string;
  readonly agentToken?: string;
  /** Goes before it. */
  readonly agentTokenFile?: string;
  /** µs, or for ever. */
  readonly retention: number | 'forever';
  /** µs. */
  readonly agentsTimeout?: number;
}

/** The port of a controller where none is named. */
const DEFAULT_ADDRESS: HostAndPort = { host: '127.0.0.1', port: 4747 };

/**
 * `squall controller`: serves runs until it is told to end. SIGINT ends the runs first (a second one
 * leaves at once); SIGTERM leaves at once: agents go on with their load, and the next controller over
 * the same store takes the runs up.
 */
export async function serveCommand(
  options: ServeOptions,
  { terminal, version }: { readonly terminal: Terminal; readonly version: string },
): Promise<void> {
  const token = joinToken(options);
  const agentToken = joinToken({
    token: options.agentToken,
    tokenFile: options.agentTokenFile,
  });
  const listen = options.listen ?? DEFAULT_ADDRESS;
  const service = await startService({
    ...listen,
    ...encryption(options),
    version,
    store: options.store,
    retentionMs: options.retention === 'forever' ? null : options.retention / 1_000,
    logger: {
      info: (text) => terminal.log(text),
      warn: (text) => terminal.log(`warning: ${text}`),
    },
    ...(token === null ? {} : { token }),
    ...(agentToken === null ? {} : { agentToken }),
    ...(options.agentsTimeout === undefined ? {} : { timing: { agentsUs: options.agentsTimeout } }),
    ...redisOf(options),
  });
  terminal.log(`listening on ${service.url.replace(/^ws/, 'http')} (agents: ${service.url})`);
  if (options.unencrypted === true) terminal.log('warning: nothing on this port is encrypted');
  if (service.bus !== null) terminal.log(`measurements travel through ${service.bus}`);
  if (service.activeRuns > 0) terminal.log(`${service.activeRuns} runs are taken up again`);
  await untilTold(service, terminal);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Returns when everything is closed. */
async function untilTold(service: Service, terminal: Terminal): Promise<void> {
  const signal = await firstSignal();
  if (signal === 'SIGINT' && service.activeRuns > 0) {
    terminal.log('ending the runs; once more leaves at once, and the next controller goes on');
    service.stopRuns('graceful');
    await Promise.race([service.idle(), firstSignal()]);
  }
  if (service.activeRuns === 0) {
    await service.close();
    return;
  }
  terminal.log(`${service.activeRuns} runs are left to the next controller over this store`);
  await service.leave();
  // The runs themselves are still here, and would hold the process.
  process.exit();
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const listen = (signal: NodeJS.Signals) => {
      for (const name of SIGNALS) process.off(name, listen);
      resolve(signal);
    };
    for (const name of SIGNALS) process.on(name, listen);
  });
}
