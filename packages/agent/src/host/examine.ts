import type { AgentShare } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { carryFindings, descriptorsOf, limitDefinitions, show } from './carry.ts';
import { type HostFinding, refusalText } from './finding.ts';
import type { HostReading } from './host-reading.ts';
import { shareNeeds } from './share-needs.ts';
import { isTuned, TUNED_DESCRIPTORS, TUNING, type TuningSetting } from './tuning.ts';

/** From so many clients on one host its settings decide over the figures. */
const TUNING_FROM_CLIENTS = 10_000;

/** Sources of time that cost a system call for each reading; workers read the clock all the time. */
const SLOW_CLOCKS = ['hpet', 'acpi_pm', 'jiffies', 'refined-jiffies'];

export interface Examination {
  readonly host: HostReading;
  /** The plan and the shares of the agents that are on this host; null: a host for much load. */
  readonly work: { readonly plan: Plan; readonly shares: readonly AgentShare[] } | null;
}

/** Everything that is looked at on a host, for a plan or as it is. */
export function examineHost({ host, work }: Examination): HostFinding[] {
  const needs = work === null ? null : shareNeeds(work.plan, work.shares);
  const clients = needs?.clients ?? Number.POSITIVE_INFINITY;
  return [
    ...(needs === null ? [untuned(host)] : carryFindings(host, needs)),
    ...clock(host),
    ...TUNING.map((setting) => settingFinding(setting, host, clients)),
  ];
}

/**
 * Why the agent of this host cannot carry its share: sentences that say what is there, what is
 * needed, and the command that mends it. Empty when it can.
 */
export function refusals(host: HostReading, plan: Plan, share: AgentShare): string[] {
  return carryFindings(host, shareNeeds(plan, [share]))
    .filter(({ state }) => state === 'fail')
    .map(refusalText);
}

function untuned(host: HostReading): HostFinding {
  const limit = descriptorsOf(host);
  const enough = limit >= TUNED_DESCRIPTORS;
  const { hard, raisable } = host.descriptors;
  const held = raisable ? '' : ', and this user cannot raise it';
  return {
    check: 'descriptors',
    state: enough ? 'ok' : 'warn',
    is: `${show(limit)} a process${hard === limit ? ' (soft and hard limit)' : ''}`,
    needs: `${show(TUNED_DESCRIPTORS)} on a host for much load`,
    why: enough ? '' : `A worker holds less than ${show(limit)} clients${held}`,
    mend: enough
      ? []
      : raisable
        ? [`ulimit -n ${TUNED_DESCRIPTORS}`]
        : limitDefinitions(TUNED_DESCRIPTORS),
  };
}

function clock({ clockSource, clockSynchronised }: HostReading): HostFinding[] {
  const slow = clockSource !== null && SLOW_CLOCKS.includes(clockSource);
  const kept = clockSynchronised === true;
  const told =
    clockSynchronised === null
      ? 'nobody here tells whether it is kept in time'
      : 'not synchronised';
  return [
    {
      check: 'clock',
      state: kept ? 'ok' : 'warn',
      is: kept ? 'synchronised' : told,
      needs: 'synchronised, for times in reports and logs',
      why: kept
        ? ''
        : 'Latencies do not depend on it: clocks of agents are compared with the controller’s in each run; times in reports and logs do',
      mend: kept ? [] : ['timedatectl set-ntp true', 'chronyc tracking'],
    },
    {
      check: 'clock source',
      state: slow ? 'warn' : 'ok',
      is: clockSource ?? 'not told here',
      needs: 'one that is read without a system call, such as tsc',
      why: slow ? 'Each reading of the clock costs a system call, several a message' : '',
      mend: slow
        ? ['echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource']
        : [],
    },
  ];
}

function settingFinding(setting: TuningSetting, host: HostReading, clients: number): HostFinding {
  const { name, values, bounds } = setting;
  const found = host.settings.get(name) ?? null;
  const wanted = values.join(' ');
  const base = { check: name, is: found?.join(' ') ?? 'not to be seen here' };
  if (found !== null && isTuned(setting, found)) {
    return { ...base, state: 'ok', needs: wanted, why: '', mend: [] };
  }
  if (clients < TUNING_FROM_CLIENTS) {
    const needs = `${wanted} from ${show(TUNING_FROM_CLIENTS)} clients on`;
    return { ...base, state: 'ok', needs, why: '', mend: [] };
  }
  const quoted = values.length === 1 ? wanted : `"${wanted}"`;
  return {
    ...base,
    state: 'warn',
    needs: wanted,
    why:
      found === null
        ? `It bounds: ${bounds}; it is set on the host itself, outside of this container`
        : `It bounds: ${bounds}`,
    mend: found === null ? [] : [`sysctl -w ${name}=${quoted}`],
  };
}
