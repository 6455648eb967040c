import type { AgentFacts } from '@squall/core/control';
import type { AgentShare, ClientRange } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { LIMITS } from './limits.ts';

export interface CapacityQuestion {
  readonly plan: Plan;
  readonly share: AgentShare;
  readonly facts: AgentFacts;
  /** Bytes that the host can still give. */
  readonly memoryAvailableBytes: number;
}

/**
 * Why this agent cannot carry its share: sentences that say what is needed, what is there, and the
 * command that mends it. Empty when it can. Capacity only caps; it never changes the split. Whose
 * sentences they are is added by the controller, which knows the agent and its host.
 */
export function capacityProblems(question: CapacityQuestion): string[] {
  return [...descriptorProblems(question), ...portProblems(question), ...memoryProblems(question)];
}

function descriptorProblems({ share, facts }: CapacityQuestion): string[] {
  const needs = share.workers.map(({ groups }) => clientsOf(groups) + LIMITS.workerDescriptors);
  const most = Math.max(0, ...needs);
  if (most <= facts.descriptorLimit) return [];
  const worker = needs.indexOf(most);
  const total = needs.reduce((a, b) => a + b, 0);
  const usable = Math.max(1, facts.descriptorLimit - LIMITS.workerDescriptors);
  const workers = Math.ceil(total / usable);
  return [
    `worker ${worker} needs ${show(most)} file descriptors for its clients, but a process may hold ` +
      `${show(facts.descriptorLimit)} here. Raise the limit before starting the agent ` +
      `(\`ulimit -n ${most}\`), or spread the clients with \`--workers ${workers}\` or more agents`,
  ];
}

/** All workers of a host share its local ports towards one broker address. */
function portProblems({ plan, share, facts }: CapacityQuestion): string[] {
  const problems: string[] = [];
  for (const [address, clients] of clientsByAddress(plan, share)) {
    if (clients <= facts.ports) continue;
    problems.push(
      `${show(clients)} clients would connect to ${address} from one source address, which has ` +
        `${show(facts.ports)} local ports for it. Widen the range ` +
        `(\`sysctl -w net.ipv4.ip_local_port_range="1024 65535"\` gives 64,512), ` +
        'give the target more urls, or add agents on other hosts',
    );
  }
  return problems;
}

function memoryProblems({ share, memoryAvailableBytes }: CapacityQuestion): string[] {
  const clients = share.workers.reduce((sum, { groups }) => sum + clientsOf(groups), 0);
  const need = share.workers.length * LIMITS.workerMemoryBytes + clients * LIMITS.clientMemoryBytes;
  if (need <= memoryAvailableBytes) return [];
  return [
    `${show(share.workers.length)} workers with ${show(clients)} clients need about ` +
      `${mebibytes(need)} of memory, but ${mebibytes(memoryAvailableBytes)} are free. Free some, ` +
      'give the container more, or start agents on other hosts ' +
      '(`squall agent --controller <url> --token <token>`)',
  ];
}

/** Clients of the share by broker address: client n of a group talks to url n mod urls. */
function clientsByAddress(plan: Plan, share: AgentShare): Map<string, number> {
  const byAddress = new Map<string, number>();
  plan.groups.forEach((group, index) => {
    const urls = plan.targets[group.target]?.urls ?? [];
    for (const { groups } of share.workers) {
      const range = groups[index];
      if (range === undefined) continue;
      urls.forEach(({ host, port }, url) => {
        const address = `${host}:${port}`;
        const clients = clientsAtUrl(range, url, urls.length);
        byAddress.set(address, (byAddress.get(address) ?? 0) + clients);
      });
    }
  });
  return byAddress;
}

/** How many n of the range have `n mod urls = url`. */
function clientsAtUrl(range: ClientRange, url: number, urls: number): number {
  const below = (end: number) => Math.floor((end - url + urls - 1) / urls);
  return range.clients === 0 ? 0 : below(range.last + 1) - below(range.first);
}

function clientsOf(groups: readonly ClientRange[]): number {
  return groups.reduce((sum, { clients }) => sum + clients, 0);
}

function show(count: number): string {
  return count.toLocaleString('en-US');
}

function mebibytes(bytes: number): string {
  return `${show(Math.ceil(bytes / 1_048_576))} MiB`;
}
