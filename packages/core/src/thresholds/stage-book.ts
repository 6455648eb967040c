import type { Phase, Slice } from '../metrics/index.ts';

const SECOND_US = 1_000_000;
/** Slices of different agents differ by less: their clocks are mapped with a bound. */
const TOLERANCE_US = 20_000;

const RANKS: Readonly<Record<Phase, number>> = { prologue: 0, main: 1, settle: 2 };

/** What is known of one phase of one stage, by its slices. */
export interface PhaseSpan {
  /** µs on the run's timeline. */
  readonly startUs: number;
  endUs: number;
  /** Whole seconds that some agent has reported, from the start of the phase. */
  fullSeconds: number;
}

interface Position {
  stage: number;
  rank: number;
  /** The next slice that is awaited. */
  n: number;
}

/** A stage book as plain data. */
export interface StageBookState {
  readonly live: readonly (readonly [agent: string, position: Readonly<Position>])[];
  readonly spans: readonly (readonly [phase: string, span: Readonly<PhaseSpan>])[];
}

/** How far the agents have reported, and how long the stages were: all of it told by the slices. */
export class StageBook {
  readonly #live: Map<string, Position>;
  readonly #spans: Map<string, PhaseSpan>;

  constructor(agents: readonly string[], state?: StageBookState) {
    const live =
      state?.live ?? agents.map((agent) => [agent, { stage: 0, rank: 0, n: 0 }] as const);
    this.#live = new Map(live.map(([agent, position]) => [agent, { ...position }]));
    this.#spans = new Map(state?.spans.map(([phase, span]) => [phase, { ...span }]));
  }

  toJSON(): StageBookState {
    return {
      live: [...this.#live].map(([agent, position]) => [agent, { ...position }]),
      spans: [...this.#spans].map(([phase, span]) => [phase, { ...span }]),
    };
  }

  report(agent: string, slice: Slice): void {
    const span = this.#spanOf(slice);
    const lengthUs = slice.toUs - slice.fromUs;
    const whole = lengthUs >= slice.span * SECOND_US - TOLERANCE_US;
    span.endUs = Math.max(span.endUs, slice.toUs);
    span.fullSeconds = Math.max(span.fullSeconds, slice.n + slice.span - (whole ? 0 : 1));
    const position = this.#live.get(agent);
    if (position === undefined) return;
    const rank = RANKS[slice.phase];
    const next = slice.n + slice.span;
    if (compare(position, { stage: slice.stage, rank, n: next }) >= 0) return;
    position.stage = slice.stage;
    position.rank = rank;
    position.n = next;
  }

  /** Nobody waits for it any more. What it reported stays. */
  lost(agent: string): void {
    this.#live.delete(agent);
  }

  span(stage: number, phase: Phase): PhaseSpan | null {
    return this.#spans.get(keyOf(stage, phase)) ?? null;
  }

  /** Whether all live agents have reported this phase up to `seconds`, or have left it. */
  reported(stage: number, phase: Phase, seconds: number): boolean {
    const wanted = { stage, rank: RANKS[phase], n: seconds };
    return [...this.#live.values()].every((position) => compare(position, wanted) >= 0);
  }

  /** Whether all live agents have left the phase: it has its final length. */
  over(stage: number, phase: Phase): boolean {
    return this.reported(stage, phase, Number.POSITIVE_INFINITY);
  }

  #spanOf(slice: Slice): PhaseSpan {
    const key = keyOf(slice.stage, slice.phase);
    const known = this.#spans.get(key);
    if (known !== undefined) return known;
    const startUs = slice.fromUs - slice.n * SECOND_US;
    const span = { startUs, endUs: slice.toUs, fullSeconds: 0 };
    this.#spans.set(key, span);
    return span;
  }
}

function keyOf(stage: number, phase: Phase): string {
  return `${stage}/${phase}`;
}

function compare(a: Position, b: Position): number {
  if (a.stage !== b.stage) return a.stage - b.stage;
  return a.rank === b.rank ? a.n - b.n : a.rank - b.rank;
}
