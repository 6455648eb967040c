import type { EncryptionOptions } from '../encryption.ts';
import type { HostAndPort } from '../option-values.ts';
import type { OutputOptions } from '../output-files.ts';

/** Options that `run` and `controller` share, as commander hands them over. */
interface SharedRunOptions extends OutputOptions, EncryptionOptions {
  readonly var?: Readonly<Record<string, string>>;
  readonly scale?: number;
  readonly label?: Readonly<Record<string, string>>;
  /** µs. */
  readonly timeout?: number;
  readonly strict?: true;
  readonly listen?: HostAndPort;
  readonly token?: string;
  readonly tokenFile?: string;
  /** Redis as the bus, as this process reaches it; and as agents reach it, where that differs. */
  readonly redis?: string;
  readonly redisForAgents?: string;
  readonly redisPasswordFile?: string;
  /** µs. */
  readonly agentsTimeout?: number;
  readonly quiet?: true;
}

export interface RunCommandOptions extends SharedRunOptions {
  /** Address of a controller that is to carry the run out. */
  readonly controller?: string;
  /** On this machine, whatever the environment says. */
  readonly local?: true;
  /** False: leave when the controller has the run. */
  readonly wait?: boolean;
  readonly agents?: number;
  readonly workers?: number;
  readonly withBroker?: true;
  readonly agentsExternal?: number;
}

export interface ControllerCommandOptions extends SharedRunOptions {
  /** Without it the controller serves runs over its REST API. */
  readonly plan?: string;
  readonly agents?: number;
  readonly store: string;
  readonly agentToken?: string;
  readonly agentTokenFile?: string;
  /** µs, or for ever. */
  readonly retention: number | 'forever';
}
