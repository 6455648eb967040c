/** One check of a host: what it is, what is wanted, and what mends it. */
export interface HostFinding {
  /** `descriptors`, `ports`, or the name of a setting. */
  readonly check: string;
  /** `fail`: the plan cannot be carried so. `warn`: it can, perhaps not as well as it could. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly is: string;
  /** What the plan needs, or what is asked of a host for much load; empty where nothing is. */
  readonly needs: string;
  /** One sentence, of a `warn` or `fail`: what follows from it. */
  readonly why: string;
  /** Commands that mend it, a line each; none where nothing can be done here, or must. */
  readonly mend: readonly string[];
}

/** What an agent says when it refuses its share by this. */
export function refusalText({ check, is, needs, why, mend }: HostFinding): string {
  const way = mend.length === 0 ? '' : `: ${mend.join(' · or · ')}`;
  return `${check}: ${is}, needed: ${needs}. ${why}${way}`;
}
