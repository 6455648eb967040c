import { type PlanPath, printPath } from './problem.ts';

/** One value that `--scale` changed, as the report lists it. */
export interface ScaledValue {
  readonly path: string;
  /** As the plan language writes it: `100000`, `2000/s`, `100000000000B`. */
  readonly from: string;
  readonly to: string;
}

const SIGNIFICANT_DIGITS = 12;

/**
 * Scales what the normaliser reads, and remembers each change. Clients, counts and sizes are rounded
 * up to at least 1; rates keep their fractions.
 */
export class Scaler {
  readonly factor: number;
  readonly changes: ScaledValue[] = [];

  constructor(factor: number) {
    this.factor = factor;
  }

  /** A second. */
  rate(path: PlanPath, perS: number): number {
    return this.#note(path, { from: perS, to: exact(perS * this.factor), unit: '/s' });
  }

  count(path: PlanPath, whole: number): number {
    return this.#note(path, { from: whole, to: this.#whole(whole), unit: '' });
  }

  bytes(path: PlanPath, size: number): number {
    return this.#note(path, { from: size, to: this.#whole(size), unit: 'B' });
  }

  text(path: PlanPath, from: string, to: string): void {
    this.changes.push({ path: printPath(path), from, to });
  }

  #whole(value: number): number {
    return value === 0 ? 0 : Math.max(1, Math.ceil(exact(value * this.factor)));
  }

  #note(
    path: PlanPath,
    { from, to, unit }: { readonly from: number; readonly to: number; readonly unit: string },
  ): number {
    if (from !== to) this.text(path, `${from}${unit}`, `${to}${unit}`);
    return to;
  }
}

/** Without the tail that binary fractions leave: 100,000 × 0.07 is 7,000, not 7,000.000000000001. */
function exact(value: number): number {
  return Number(value.toPrecision(SIGNIFICANT_DIGITS));
}
