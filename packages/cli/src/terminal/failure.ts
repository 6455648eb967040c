import { SquallError } from '@squall/core/errors';
import type { Style } from './style.ts';

/** Services write to a log, where what belongs together stands in one line. */
export const ONE_LINE = { variable: 'SQUALL_LOG', value: 'line' } as const;

/** Causes of causes that are printed; a chain can be circular. */
const MAX_CAUSES = 5;

/**
 * What a person reads when a command ends by an error: message, place, cause and next step for
 * errors that are expected; the whole stack for a fault of ours, because somebody must find it.
 */
export function describeFailure(error: unknown, style: Style): string {
  const lines = error instanceof SquallError ? expected(error, style) : unexpected(error, style);
  return `${lines.join('\n')}\n`;
}

/** The same for a log of lines; a fault of ours keeps its stack. */
export function failureLine(error: unknown, style: Style): string {
  if (!(error instanceof SquallError)) return describeFailure(error, style);
  const [message = '', ...rest] = expected(error, style);
  return `${[message, ...rest.map((line) => line.trim().replace(/^(\w+) +/, '$1: '))].join(' · ')}\n`;
}

function expected(error: SquallError, style: Style): string[] {
  const lines = [`${style.red('error')} ${error.code}: ${error.message}`];
  if (error.path !== undefined) lines.push(`  at     ${error.path}`);
  for (const cause of causesOf(error)) lines.push(`  cause  ${cause}`);
  if (error.hint !== undefined) lines.push(`  next   ${error.hint}`);
  return lines;
}

function unexpected(error: unknown, style: Style): string[] {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [`${style.red('error')} SQ_INTERNAL: a fault of squall itself, please report it`, stack];
}

function causesOf(error: Error): string[] {
  const causes: string[] = [];
  let cause = error.cause;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    // Errors are often wrapped with the very words of their cause.
    if (!error.message.includes(cause.message)) causes.push(cause.message);
    cause = cause.cause;
  }
  return causes;
}
