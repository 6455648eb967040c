import type { PlanMaterial } from '@squall/core/plan';

/** What a run is given besides its plan; all of it stands in the report but secrets and files. */
export interface SubmitOptions {
  /** Version of the product, for the report. */
  readonly version: string;
  /** Values of `{{env.X}}`, handed to agents and to nobody else. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** What is in the files that the plan names: handed to agents that need it, and to nobody else. */
  readonly material?: PlanMaterial;
  /** Beside the plan's own; these win. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `--strict`: validity `degraded` is no success. */
  readonly strict?: boolean;
  /** Whether the plan's `maxDurationUs` is really that of `--timeout`. */
  readonly timeout?: boolean;
  /** `--scale`, 1 if left out, and what it changed. */
  readonly scale?: number;
  readonly scaled?: readonly {
    readonly path: string;
    readonly from: string;
    readonly to: string;
  }[];
}
