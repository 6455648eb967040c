import type { BusNotice } from '@squall/core/bus';
import type { FromAgent } from '@squall/core/control';
import type { BusTrouble } from '@squall/core/report';
import { formatDuration } from '@squall/core/units';
import type { RunAgent } from './run-agent.ts';

type BusState = Extract<FromAgent, { type: 'bus_state' }>;

export interface BusWatchScene {
  warning(text: string): void;
}

/** What happens to the bus of one run, as its receiver and its agents tell: said once, kept for the report. */
export class BusWatch {
  readonly #scene: BusWatchScene;
  readonly #states = new Map<RunAgent, BusState>();
  readonly #memory: string[] = [];
  readonly #long = new Map<string, number>();
  #interruptions = 0;
  #interruptedUs = 0;
  #reason: string | null = null;
  #isDown = false;
  #gaps = 0;

  constructor(scene: BusWatchScene) {
    this.#scene = scene;
  }

  notice(notice: BusNotice): void {
    switch (notice.kind) {
      case 'interrupted':
        this.#isDown = true;
        this.#interruptions++;
        this.#reason = notice.reason;
        return this.#scene.warning(
          `no measurements come in: ${notice.reason}; the load goes on, the agents keep what they measure`,
        );
      case 'resumed':
        this.#isDown = false;
        this.#interruptedUs += notice.afterUs;
        return this.#scene.warning(`Redis works again after ${formatDuration(notice.afterUs)}`);
      case 'restarted':
        return this.#scene.warning('Redis was restarted');
      case 'memory':
        this.#memory.push(notice.reason);
        return this.#scene.warning(`Redis: ${notice.reason}`);
      case 'long':
        this.#long.set(notice.agent, notice.entries);
        return this.#scene.warning(
          `the stream of agent ${notice.agent} has grown to ${notice.entries} entries`,
        );
      case 'gap':
        this.#gaps++;
        return this.#scene.warning(
          `frames ${notice.seqFrom}–${notice.seqTo} of agent ${notice.agent} are missing on the bus and are asked for again`,
        );
    }
  }

  /** All figures are totals, so only what grew is news. */
  state(agent: RunAgent, state: BusState): void {
    const before = this.#states.get(agent);
    this.#states.set(agent, state);
    if (state.trouble !== null && before?.interruptions !== state.interruptions) {
      this.#scene.warning(`agent ${agent.id} cannot send its measurements: ${state.trouble}`);
    }
    const lost = state.lostFrames - (before?.lostFrames ?? 0);
    if (lost > 0) {
      this.#scene.warning(
        `Redis has lost ${lost} frames of agent ${agent.id} that it had taken; they are sent again`,
      );
    }
  }

  troubles(): BusTrouble[] {
    return [
      ...this.#interrupted(),
      ...this.#dataLost(),
      ...this.#memory.map((reason): BusTrouble => {
        return { check: 'bus_memory', observed: 'warned', hint: `Redis: ${reason}.` };
      }),
      ...[...this.#long].map(([agent, entries]): BusTrouble => {
        const hint =
          'Its stream in Redis was longer than it ever should be: measurements were not taken over, or not trimmed.';
        return { check: 'bus_length', observed: entries, agent, hint };
      }),
      ...this.#gapTrouble(),
    ];
  }

  #interrupted(): BusTrouble[] {
    const agents = [...this.#states.values()].filter(({ interruptions }) => interruptions > 0);
    if (this.#interruptions === 0 && agents.length === 0) return [];
    const longestUs = Math.max(this.#interruptedUs, ...agents.map((state) => state.interruptedUs));
    const still = this.#isDown || agents.some(({ trouble }) => trouble !== null);
    const reason = agents.find(({ trouble }) => trouble !== null)?.trouble ?? this.#reason;
    const who = agents.length === 0 ? 'the controller alone' : `${agents.length} agents`;
    const hint =
      `The bus did not work for ${formatDuration(longestUs)} (seen by ${who})` +
      `${still ? ', and did not at the end' : ''}${reason === null ? '' : `: ${reason}`}. ` +
      'The load went on; frames waited in the agents.';
    return [{ check: 'bus_interrupted', observed: Math.round(longestUs), hint }];
  }

  #dataLost(): BusTrouble[] {
    const lost = [...this.#states.values()].reduce((sum, state) => sum + state.lostFrames, 0);
    if (lost === 0) return [];
    const hint =
      'Redis lost frames that it had taken (it was restarted or emptied); the agents sent them again.';
    return [{ check: 'bus_data_lost', observed: lost, hint }];
  }

  #gapTrouble(): BusTrouble[] {
    if (this.#gaps === 0) return [];
    const hint = 'Entries were missing in the middle of a stream; the agents sent them again.';
    return [{ check: 'bus_gap', observed: this.#gaps, hint }];
  }
}
