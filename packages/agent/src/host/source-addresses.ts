import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Plan } from '@squall/core/plan';

/** Longest list that a refusal prints. */
const SHOWN = 5;

export interface OwnPlan {
  /** The plan, with the source addresses that this host has. */
  readonly plan: Plan;
  /** Why groups have none of theirs here, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Of the plan's source addresses each agent uses those that its own host has: one plan serves many
 * hosts. Whether it has one is learnt by taking it, since loopback has many that no list of
 * interfaces shows.
 */
export async function withOwnSources(plan: Plan): Promise<OwnPlan> {
  const named = new Set(plan.groups.flatMap((group) => group.sourceAddresses));
  if (named.size === 0) return { plan, problems: [] };
  const own = new Set<string>();
  await Promise.all(
    [...named].map(async (address) => {
      if (await isOwn(address)) own.add(address);
    }),
  );
  const problems: string[] = [];
  const groups = plan.groups.map((group) => {
    const { sourceAddresses, name } = group;
    if (sourceAddresses.length === 0) return group;
    const there = sourceAddresses.filter((address) => own.has(address));
    if (there.length === 0) problems.push(noneHere(name, sourceAddresses));
    return { ...group, sourceAddresses: there };
  });
  return { plan: { ...plan, groups }, problems };
}

function noneHere(group: string, addresses: readonly string[]): string {
  const shown = addresses.slice(0, SHOWN).join(', ');
  const more = addresses.length > SHOWN ? ` and ${addresses.length - SHOWN} more` : '';
  return (
    `none of the sourceAddresses of group ${group} is an address of this host (${shown}${more}): ` +
    `give it one with \`ip addr add ${addresses[0] ?? ''} dev <interface>\`, ` +
    'or name addresses that its agents have'
  );
}

/** A datagram socket takes the address without taking a port from the connections to come. */
function isOwn(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    const done = (taken: boolean): void => {
      socket.close();
      resolve(taken);
    };
    socket.once('error', () => done(false));
    socket.bind({ address, port: 0, exclusive: true }, () => done(true));
  });
}
