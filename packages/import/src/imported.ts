import type { Finding } from './findings.ts';

/** A plan that came out of somebody else's. */
export interface ImportedPlan {
  /** YAML, with comments on where each part came from. */
  readonly text: string;
  readonly from: 'jmeter' | 'swarm';
  /** What could not be carried over; the first 500. */
  readonly lost: readonly Finding[];
  /** What is not quite what it was; the first 500. */
  readonly changed: readonly Finding[];
  readonly lostCount: number;
  readonly changedCount: number;
}
