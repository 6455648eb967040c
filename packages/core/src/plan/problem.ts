import type { ErrorCode } from '../errors/index.ts';
import { MAX_PROBLEMS } from './limits.ts';

/** One fault (or warning) of a plan, with its place in the file. */
export interface PlanProblem {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Such as `groups.devices.publish[1].topic`; empty for the plan as a whole. */
  readonly path: string;
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
  readonly code: ErrorCode;
}

export type PlanPath = readonly (string | number)[];

/** What a check found, before its place is known. */
export interface Finding {
  readonly path: PlanPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** SQ_PLAN where it is left out. */
  readonly code?: ErrorCode | undefined;
  /** Place inside the value's text, from 1. */
  readonly column?: number | undefined;
  /** The column counts in the text as the file has it, before variables were filled in. */
  readonly inFile?: boolean | undefined;
  /** The key itself is at fault, not what it holds. */
  readonly atKey?: boolean | undefined;
}

/** Collects what is wrong, so that everything is told at once. */
export class Findings {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];

  error(path: PlanPath, message: string, more: Partial<Finding> = {}): void {
    this.errors.push({ ...more, path, message });
  }

  /** For what the language has and this version has not. `what` ends in its verb: `probes are`. */
  unsupported(path: PlanPath, what: string, hint?: string): void {
    this.error(path, notSupported(what), { code: 'SQ_UNSUPPORTED', hint });
  }

  warn(path: PlanPath, message: string, hint?: string): void {
    this.warnings.push({ path, message, hint });
  }
}

/** `probes are` → `probes are not supported by this version`. */
export function notSupported(what: string): string {
  return `${what} not supported by this version`;
}

/** `['groups', 'a', 'publish', 1]` → `groups.a.publish[1]`. */
export function printPath(path: PlanPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** Text as compilers write it: `file:line:column: error: path: message`, the hint below. */
export function formatProblems(
  fileName: string,
  problems: readonly PlanProblem[],
  kind: 'error' | 'warning' = 'error',
): string {
  const lines = problems.slice(0, MAX_PROBLEMS).flatMap((problem) => {
    const place = `${fileName}:${problem.line}:${problem.column}`;
    const path = problem.path === '' ? '' : `${problem.path}: `;
    const head = `${place}: ${kind}: ${path}${problem.message} [${problem.code}]`;
    return problem.hint === undefined ? [head] : [head, `    hint: ${problem.hint}`];
  });
  const more = problems.length - MAX_PROBLEMS;
  return [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}
