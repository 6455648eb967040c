import { type Curve, withPoint } from './curve.ts';
import type { FigureInfo } from './figures.ts';

/** Reasons of a probe's failures that are told apart; the rest are counted under one. */
const MAX_REASONS = 50;
const OTHER_REASONS = 'other reasons';

/** What one reading gave. `atUs`: on the run's timeline. */
export interface ProbeReading {
  readonly probe: string;
  readonly atUs: number;
  readonly figures: ReadonlyMap<string, FigureInfo & { readonly value: number }>;
}

/** All that is known of one figure. */
export interface FigureRecord extends FigureInfo {
  readonly first: number;
  readonly last: number;
  /** Sum of all increases since the first reading; a counter that began again counts from 0. */
  readonly increase: number;
  /** How often it went down. */
  readonly decreases: number;
  readonly readings: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly lastUs: number;
  readonly points: Curve;
}

export interface ProbeRecord {
  readonly figures: Readonly<Record<string, FigureRecord>>;
  readonly readings: number;
  readonly errors: number;
  /** Readings left out, since the one before had not ended. */
  readonly skipped: number;
  readonly reasons: Readonly<Record<string, number>>;
  /** What the last failure said. */
  readonly lastError: string;
}

export type ProbeBookState = Readonly<Record<string, ProbeRecord>>;

const NEW_PROBE: ProbeRecord = {
  figures: {},
  readings: 0,
  errors: 0,
  skipped: 0,
  reasons: {},
  lastError: '',
};

/** The figures of all probes of a run, in bounded memory. `toJSON` gives all of it. */
export class ProbeBook {
  readonly #records: Map<string, ProbeRecord>;

  constructor(names: readonly string[], state: ProbeBookState = {}) {
    this.#records = new Map(names.map((name) => [name, state[name] ?? NEW_PROBE]));
  }

  add({ probe, atUs, figures }: ProbeReading): void {
    const known = this.#of(probe);
    const next: Record<string, FigureRecord> = { ...known.figures };
    for (const [name, figure] of figures) {
      next[name] = grown(known.figures[name], { ...figure, atUs });
    }
    this.#records.set(probe, { ...known, figures: next, readings: known.readings + 1 });
  }

  failed(probe: string, reason: string, detail: string): void {
    const known = this.#of(probe);
    const isNew = known.reasons[reason] === undefined;
    const key = isNew && Object.keys(known.reasons).length >= MAX_REASONS ? OTHER_REASONS : reason;
    this.#records.set(probe, {
      ...known,
      errors: known.errors + 1,
      reasons: { ...known.reasons, [key]: (known.reasons[key] ?? 0) + 1 },
      lastError: detail,
    });
  }

  skipped(probe: string): void {
    const known = this.#of(probe);
    this.#records.set(probe, { ...known, skipped: known.skipped + 1 });
  }

  records(): ReadonlyMap<string, ProbeRecord> {
    return this.#records;
  }

  figure(probe: string, figure: string): FigureRecord | null {
    return this.#records.get(probe)?.figures[figure] ?? null;
  }

  toJSON(): ProbeBookState {
    return Object.fromEntries(this.#records);
  }

  #of(probe: string): ProbeRecord {
    return this.#records.get(probe) ?? NEW_PROBE;
  }
}

type NewValue = FigureInfo & { readonly value: number; readonly atUs: number };

function grown(known: FigureRecord | undefined, { value, atUs, ...info }: NewValue): FigureRecord {
  if (known === undefined) {
    const points = withPoint([], atUs, value);
    const one = { first: value, last: value, min: value, max: value, sum: value };
    return { ...info, ...one, increase: 0, decreases: 0, readings: 1, lastUs: atUs, points };
  }
  const fell = value < known.last;
  // What counts from 0 again has counted so much since.
  const step = fell ? (info.kind === 'counter' ? value : 0) : value - known.last;
  return {
    ...info,
    first: known.first,
    last: value,
    increase: known.increase + step,
    decreases: known.decreases + (fell ? 1 : 0),
    readings: known.readings + 1,
    min: Math.min(known.min, value),
    max: Math.max(known.max, value),
    sum: known.sum + value,
    lastUs: atUs,
    points: withPoint(known.points, atUs, value),
  };
}
