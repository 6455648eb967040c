import type { Admin } from '../admin/admin.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { TopicQueue } from '../route/topic-queues.ts';
import type { StartFrom } from './consumer-options.ts';

export interface StartOptions {
  readonly group: string;
  readonly from: StartFrom;
  readonly ignoreCommitted: boolean;
}

/** Where to begin reading a queue: at what the group committed, else at `from`. */
export async function startOffset(
  admin: Admin,
  queue: TopicQueue,
  options: StartOptions,
): Promise<number> {
  if (!options.ignoreCommitted) {
    const committed = await committedOffset(admin, queue, options);
    if (committed !== null) return committed;
  }
  const { from } = options;
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

/**
 * What the group committed, or null. Brokers of 4.x answer 0 for a group that they do not know while a
 * queue starts at 0, which turns "from last" into "from first": so a 0 counts only where the broker
 * lists offsets of this group and topic.
 */
async function committedOffset(
  admin: Admin,
  queue: TopicQueue,
  options: StartOptions,
): Promise<number | null> {
  const committed = await admin.committedOffset(options.group, queue);
  if (committed !== 0 || options.from.at === 'first') return committed;
  try {
    const known = (await admin.lag(options.group)).some((each) => each.topic === queue.topic);
    return known ? committed : null;
  } catch (error) {
    // An account that may not read statistics: the broker's word stands.
    if (error instanceof RocketmqError && error.code === 'ANSWER') return committed;
    throw error;
  }
}
