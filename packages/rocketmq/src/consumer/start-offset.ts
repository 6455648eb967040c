import type { Admin } from '../admin/admin.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { TopicQueue } from '../route/topic-queues.ts';
import type { StartFrom } from './consumer-options.ts';
import { firstAlone } from './first-alone.ts';

/** What is asked of a queue's offsets. */
type QueueOffsets = Pick<Admin, 'minOffset' | 'maxOffset' | 'offsetAt'>;

/**
 * Whether a group has committed offsets of a topic. Only the list of all its offsets says so: asked
 * for one of them, brokers of 4.x answer 0 for a group that they do not know, as long as the queue
 * starts at 0, which would turn "from last" into "from first".
 */
export async function isKnownGroup(admin: Admin, group: string, topic: string): Promise<boolean> {
  try {
    return (await admin.lag(group)).some((each) => each.topic === topic);
  } catch (error) {
    // An account that may not read statistics: single answers are honest where there are such accounts.
    if (error instanceof RocketmqError && error.code === 'ANSWER') return true;
    throw error;
  }
}

/**
 * Gives a new group its place in every queue, not only in those that are one member's: another member
 * that starts a moment later finds it there. False: the broker does not take it (5.x, a group that it
 * never saw).
 */
export async function placeGroup(
  admin: QueueOffsets & Pick<Admin, 'commitOffset'>,
  queues: readonly TopicQueue[],
  start: { readonly group: string; readonly from: StartFrom },
): Promise<boolean> {
  try {
    await firstAlone(
      queues,
      (queue) => queue.address,
      async (queue) =>
        admin.commitOffset(start.group, queue, await firstOffset(admin, queue, start.from)),
    );
    return true;
  } catch (error) {
    if (error instanceof RocketmqError && error.code === 'ANSWER') return false;
    throw error;
  }
}

/** Where reading a queue begins for whoever has no committed offset. */
export async function firstOffset(
  admin: QueueOffsets,
  queue: TopicQueue,
  from: StartFrom,
): Promise<number> {
  switch (from.at) {
    case 'first':
      return admin.minOffset(queue);
    case 'last':
      return admin.maxOffset(queue);
    case 'timestamp':
      // Where nothing is that new, 4.x gives the last message: the reader drops what is older.
      return admin.offsetAt(queue, from.timestampMs);
    case 'offset':
      return from.offset;
  }
}
