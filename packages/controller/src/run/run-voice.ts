import { MAX_WARNINGS } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { RunAgent } from './run-agent.ts';
import type { AgentRunState, RunEvent, RunState } from './run-handle.ts';

/** Everything that a run tells to the outside while it goes on. */
export class RunVoice {
  readonly #run: string;
  readonly #logger: Logger;
  readonly #listeners = new Set<(event: RunEvent) => void>();
  readonly #warnings: string[];
  #state: RunState = 'waiting';

  /** `warnings`: what was told in an earlier life of the run. */
  constructor(run: string, logger: Logger, warnings: readonly string[] = []) {
    this.#run = run;
    this.#logger = logger;
    this.#warnings = [...warnings];
  }

  get state(): RunState {
    return this.#state;
  }

  /** The first `MAX_WARNINGS`, for the report. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  onEvent(listener: (event: RunEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  enter(state: RunState, text: string): void {
    this.#state = state;
    this.#logger.info(`run ${this.#run}: ${text}`);
    this.emit({ type: 'state', state, text });
  }

  warn(text: string): void {
    this.#logger.warn(`run ${this.#run}: ${text}`);
    if (this.#warnings.length < MAX_WARNINGS) this.#warnings.push(text);
    this.emit({ type: 'warning', text });
  }

  /** A warning that no report may lack, however many there were before. */
  warnFirst(text: string): void {
    this.#warnings.splice(MAX_WARNINGS - 1);
    this.warn(text);
  }

  agent(agent: RunAgent, state: AgentRunState): void {
    if (agent.state === state) return;
    agent.state = state;
    this.emit({ type: 'agent', agent: agent.id, state });
  }

  /** A listener that throws is a fault of its own; the run goes on. */
  emit(event: RunEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#logger.warn(`a listener of run ${this.#run} failed: ${String(error)}`);
      }
    }
  }
}
