import type { ProbeSpec } from '../plan/probe-spec.ts';
import { figuresOf } from '../probes/figures.ts';
import type { ProbeBook } from '../probes/probe-book.ts';
import { figureText } from '../probes/reference.ts';

/** A figure that tells how many messages a system still has to hand on. */
export interface Queue {
  readonly probe: string;
  readonly figure: string;
}

/** Of rule engines whose sinks work asynchronously; the later ones are parts of the earlier. */
const WHOLE = ['rule.open', 'sink.open'];
const PART = 'sink.inflight';

/** The queues that the probes of a plan tell of: while one holds something, counting is not over. */
export function queuesOf(probes: readonly ProbeSpec[]): Queue[] {
  return probes.flatMap(({ name, source }) => {
    const known = Object.keys(figuresOf(source));
    const whole = WHOLE.filter((figure) => known.includes(figure));
    const figures = whole.length === 0 && known.includes(PART) ? [PART] : whole;
    return figures.map((figure) => ({ probe: name, figure }));
  });
}

/** What they held when they were read last, by name; those that are empty or were not read are left out. */
export function heldIn(queues: readonly Queue[], probes: ProbeBook): Record<string, number> {
  return Object.fromEntries(
    queues.flatMap((queue) => {
      const last = probes.figure(queue.probe, queue.figure)?.last ?? 0;
      return last > 0 ? [[figureText(queue), last] as const] : [];
    }),
  );
}
