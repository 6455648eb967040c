/** What must agree at the end, whoever counted it. */
export interface BalanceSpec {
  readonly equations: readonly BalanceEquation[];
  /** Longest wait after the load for the sides to agree. */
  readonly maxUs: number;
  /** More on the right than on the left is no fault. */
  readonly duplicates: boolean;
}

export interface BalanceEquation {
  /** `equal`: all agree with the first; `atLeast`: the first is no less than any other. */
  readonly kind: 'equal' | 'atLeast';
  readonly sides: readonly BalanceSide[];
}

export type BalanceSide =
  | {
      readonly kind: 'counter';
      readonly text: string;
      /** A group (its streams included) or a stream. */
      readonly subject: string;
      readonly metric: string;
    }
  | {
      readonly kind: 'probe';
      readonly text: string;
      readonly probe: string;
      readonly figure: string;
    };
