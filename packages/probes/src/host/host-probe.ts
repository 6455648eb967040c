import type { HostProbeSource } from '@squall/core/plan';
import { HOST } from '@squall/core/probes';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';

/** An agent, and what it said of its host last. */
export interface AgentHost {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** By the names of `HOST`; null: nothing yet, or nothing lately. */
  readonly figures: Readonly<Record<string, number>> | null;
}

/** All agents that are there now. */
export type HostReader = () => readonly AgentHost[];

/** The figures of a host, as the agent there tells them; they come with its heartbeats. */
export class HostProbe implements Probe {
  readonly #source: HostProbeSource;
  readonly #hosts: HostReader;

  constructor(source: HostProbeSource, hosts: HostReader) {
    this.#source = source;
    this.#hosts = hosts;
  }

  async read(): Promise<Reading> {
    const [found, ...more] = this.#hosts().filter((agent) => this.#fits(agent));
    if (found === undefined) {
      throw new ProbeError('no such agent', 'start `squall agent --observe` on that host');
    }
    if (more.length > 0) {
      const ids = [found, ...more].map(({ id }) => id).join(', ');
      throw new ProbeError('several agents fit', `name one of ${ids}`);
    }
    if (found.figures === null) {
      throw new ProbeError('nothing heard', `agent ${found.id} said nothing of its host lately`);
    }
    const figures = new Map<string, Figure>();
    for (const [name, value] of Object.entries(found.figures)) {
      const info = HOST[name];
      if (info !== undefined) figures.set(name, { ...info, value });
    }
    return figures;
  }

  async close(): Promise<void> {}

  #fits({ id, labels }: AgentHost): boolean {
    const { agent, labels: wanted } = this.#source;
    if (agent !== null) return id === agent;
    return Object.entries(wanted).every(([key, value]) => labels[key] === value);
  }
}
