import type { BusLink } from '@squall/core/bus';
import type { AgentHub } from '../hub/hub.ts';

/** What any bus says to agents goes over their links. What is lost with a link is said again. */
export function linksOf(hub: AgentHub): BusLink {
  return {
    acknowledge(agent, epoch, seq) {
      const session = hub.session(agent);
      const run = session?.run ?? null;
      if (session === undefined || run === null) return false;
      return session.send({ type: 'frame_ack', run, epoch, seq });
    },
    resend(agent, epoch) {
      const session = hub.session(agent);
      const run = session?.run ?? null;
      if (run !== null) session?.send({ type: 'frame_resend', run, epoch });
    },
  };
}
