import type { HostAndPort } from '../option-values.ts';

/** Options that `run` and `controller` share, as commander hands them over. */
interface SharedRunOptions {
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
  /** µs. */
  readonly agentsTimeout?: number;
  readonly out?: string;
  readonly junit?: string;
  readonly quiet?: true;
}

export interface RunCommandOptions extends SharedRunOptions {
  readonly agents?: number;
  readonly workers?: number;
  readonly withBroker?: true;
  readonly agentsExternal?: number;
}

export interface ControllerCommandOptions extends SharedRunOptions {
  readonly plan: string;
  readonly agents: number;
}
