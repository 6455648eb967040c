import type { Group, Plan } from '@squall/core/plan';
import { PUBLISH_PACKET_ID_MAX } from '@squall/mqtt';
import { ANSWERS_IN_FLIGHT } from '../limits.ts';

/**
 * The in-flight window of a client over all its streams: packet ids are one space a connection.
 * A stage may widen a stream's window, so the widest one counts.
 * @throws RangeError where more than the packet ids of a connection are asked for.
 */
export function tableWindow(plan: Plan, group: Group): number {
  let window = 0;
  group.publish.forEach((stream, index) => {
    if (stream.qos === 0) return;
    let widest = stream.inflight;
    for (const work of plan.stages.flatMap((stage) => stage.run)) {
      if (plan.groups[work.group] !== group) continue;
      for (const activity of work.activities) {
        if (activity.kind !== 'publish' || activity.stream !== index) continue;
        widest = Math.max(widest, activity.inflight);
      }
    }
    window += widest;
  });
  for (const { qos } of group.respond) if (qos !== 0) window += ANSWERS_IN_FLIGHT;
  if (window > PUBLISH_PACKET_ID_MAX) {
    throw new RangeError(
      `group ${group.name}: ${window} messages in flight a client; at most ${PUBLISH_PACKET_ID_MAX} have a packet id`,
    );
  }
  return Math.max(1, window);
}
