import { RocketmqError } from '@squall/rocketmq';

/** What went wrong, and what may help, as one reason. */
export function errorReason(error: unknown): string {
  if (error instanceof RocketmqError && error.hint !== undefined) {
    return `${error.message} (${error.hint})`;
  }
  return error instanceof Error ? error.message : String(error);
}
