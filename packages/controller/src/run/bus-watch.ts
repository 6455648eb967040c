import type { BusNotice } from '@squall/core/bus';
import type { FromAgent } from '@squall/core/control';
import type { BusTrouble } from '@squall/core/report';
import { formatDuration } from '@squall/core/units';
import type { SavedBusWatch } from './checkpoint/saved-run.ts';

/** How an agent's end of the bus fares, as it says. */
type BusState = Omit<Extract<FromAgent, { type: 'bus_state' }>, 'type' | 'run' | 'epoch'>;

export interface BusWatchScene {
  warning(text: string): void;
}

/** What happens to the bus of one run, as its receiver and its agents tell: said once, kept for the report. */
export class BusWatch {
  readonly #scene: BusWatchScene;
  readonly #states: Map<string, BusState>;
  readonly #memory: string[];
  readonly #long: Map<string, number>;
  #interruptions: number;
  #interruptedUs: number;
  #reason: string | null;
  #isDown = false;
  #gaps: number;

  /** `saved`: what an earlier life of the run knew. */
  constructor(scene: BusWatchScene, saved: SavedBusWatch = NOTHING) {
    this.#scene = scene;
    this.#states = new Map(saved.states);
    this.#memory = [...saved.memory];
    this.#long = new Map(saved.long);
    this.#interruptions = saved.interruptions;
    this.#interruptedUs = saved.interruptedUs;
    this.#reason = saved.reason;
    this.#gaps = saved.gaps;
  }

  toJSON(): SavedBusWatch {
    return {
      interruptions: this.#interruptions,
      interruptedUs: this.#interruptedUs,
      reason: this.#reason,
      gaps: this.#gaps,
      memory: this.#memory,
      long: [...this.#long],
      states: [...this.#states],
    };
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
  state(agent: string, said: BusState): void {
    const { trouble, interruptions, interruptedUs, lostFrames } = said;
    const state = { trouble, interruptions, interruptedUs, lostFrames };
    const before = this.#states.get(agent);
    this.#states.set(agent, state);
    // While nothing comes in at all, that an agent sends nothing is no news.
    const news = !this.#isDown && before?.interruptions !== state.interruptions;
    if (state.trouble !== null && news) {
      this.#scene.warning(`agent ${agent} cannot send its measurements: ${state.trouble}`);
    }
    const lost = state.lostFrames - (before?.lostFrames ?? 0);
    if (lost > 0) {
      this.#scene.warning(
        `Redis has lost ${lost} frames of agent ${agent} that it had taken; they are sent again`,
      );
    }
  }

  /** Whether frames of any of these agents may be held up on their way. */
  holdsUp(agents: readonly string[]): boolean {
    return (
      this.#isDown || agents.some((agent) => (this.#states.get(agent)?.trouble ?? null) !== null)
    );
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

const NOTHING: SavedBusWatch = {
  interruptions: 0,
  interruptedUs: 0,
  reason: null,
  gaps: 0,
  memory: [],
  long: [],
  states: [],
};
