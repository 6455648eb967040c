import { type ClockReport, DomainClocks } from '@squall/core/clock';
import { clockDomainHash } from '@squall/core/stamp';
import type { ProbeScene } from '@squall/probes';
import type { AgentHub } from '../../hub/hub.ts';
import type { TimeSource } from '../../time-source.ts';
import type { Roster } from '../roster.ts';

export interface OutsideScene {
  /** Id of the run. */
  readonly run: string;
  /** Of the controller. */
  readonly clockDomain: string;
  readonly hub: AgentHub;
  readonly time: TimeSource;
  readonly roster: () => Roster;
}

/** What probes see of the run and of the fleet. */
export function outsideOf({ run, clockDomain, hub, time, roster }: OutsideScene): ProbeScene {
  return {
    hook: { run, clockDomain, clocks: () => clocksOf(roster(), { clockDomain, time }) },
    hosts: () =>
      hub
        .sessions()
        .map(({ id, facts, hostFigures }) => ({ id, labels: facts.labels, figures: hostFigures })),
  };
}

/** The clocks of all hosts of the run as they are now, by what their agents reported last. */
function clocksOf(
  roster: Roster,
  { clockDomain, time }: Pick<OutsideScene, 'clockDomain' | 'time'>,
) {
  const clocks = new DomainClocks(clockDomainHash(clockDomain));
  for (const { id, session } of roster.live()) {
    const report: ClockReport | null = session.clock;
    if (report !== null) clocks.take(id, clockDomainHash(session.facts.clockDomain), report);
  }
  return clocks.at(time.monotonicUs()).clocks;
}
