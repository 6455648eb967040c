import type { AgentFacts, AgentHealth, HostFigures } from '@squall/core/control';
import type { AgentSession, ClockEstimate } from './session.ts';

/** An agent as the outside sees it. */
export interface AgentView {
  readonly id: string;
  readonly facts: AgentFacts;
  /** Whether its link stands now. */
  readonly connected: boolean;
  /** The run that has it, if any. */
  readonly run: string | null;
  readonly clock: ClockEstimate | null;
  readonly health: AgentHealth | null;
  /** How its host fares, by the names of a probe of type host. */
  readonly host: HostFigures | null;
}

export function viewOf(session: AgentSession): AgentView {
  return {
    id: session.id,
    facts: session.facts,
    connected: session.connected,
    run: session.run,
    clock: session.clock,
    health: session.health,
    host: session.hostFigures,
  };
}
