import { isDescriptorError, RAISE_DESCRIPTORS, SquallError } from '@squall/core/errors';
import { descriptorLimit, runShortage } from './processes/descriptors.ts';

/** Causes of causes that are looked at; a chain can be circular. */
const MAX_CAUSES = 8;

/**
 * An error that comes from too few descriptors, wherever in the chain of its causes, as what it is:
 * SQ_CAPACITY with the way out. Any other error as it was.
 */
export function namedDescriptorFailure(error: unknown): unknown {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if (isDescriptorError(cause)) {
      const message = 'too few file descriptors: the system refused to open one more';
      return new SquallError('SQ_CAPACITY', message, { hint: RAISE_DESCRIPTORS, cause: error });
    }
    cause = cause.cause;
  }
  return error;
}

/**
 * Sees, before anything is started for it, that a run can hold its processes.
 * @throws SquallError SQ_CAPACITY
 */
export function checkDescriptors(run: {
  readonly agents: number;
  readonly children: number;
}): void {
  const shortage = runShortage(run.agents, run.children, descriptorLimit());
  if (shortage === null) return;
  throw new SquallError('SQ_CAPACITY', shortage.message, { hint: shortage.hint });
}
