import type { ProbeSpec } from '../plan/probe-spec.ts';
import { nearest } from '../text/nearest.ts';
import { type FigureInfo, figuresOf, ONLY_FIGURE } from './figures.ts';

/** A figure of a probe, as thresholds and balances name it: `host.cpu_user`, or `rows` alone. */
export interface FigureReference {
  readonly probe: string;
  readonly figure: string;
  readonly info: FigureInfo;
}

/** Why a name is no figure. */
export interface FigureFault {
  readonly message: string;
  readonly hint: string;
}

/** Null where the name does not begin with that of a probe: it speaks of something else. */
export function findFigure(
  text: string,
  probes: readonly ProbeSpec[],
): FigureReference | FigureFault | null {
  const dot = text.indexOf('.');
  const head = dot < 0 ? text : text.slice(0, dot);
  const spec = probes.find((probe) => probe.name === head);
  if (spec === undefined) return null;
  const known = figuresOf(spec.source);
  const figure = dot < 0 ? ONLY_FIGURE : text.slice(dot + 1);
  const info = known[figure];
  if (info !== undefined) return { probe: head, figure, info };
  const names = Object.keys(known);
  if (dot < 0) {
    return {
      message: `the probe ${head} has several figures`,
      hint: `write one of ${names.map((name) => `${head}.${name}`).join(', ')}`,
    };
  }
  const near = nearest(figure, names);
  return {
    message: `the probe ${head} has no figure "${figure}"`,
    hint: near === null ? `it has ${names.join(', ')}` : `did you mean ${head}.${near}?`,
  };
}

export function isFigure(found: FigureReference | FigureFault): found is FigureReference {
  return 'probe' in found;
}

/** As plans name it. */
export function figureText({ probe, figure }: { probe: string; figure: string }): string {
  return figure === ONLY_FIGURE ? probe : `${probe}.${figure}`;
}
