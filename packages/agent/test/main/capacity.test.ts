import type { AgentFacts } from '@squall/core/control';
import { split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { describe, expect, it } from 'vitest';
import { capacityProblems } from '../../src/main/capacity.ts';
import { gatherFacts } from '../../src/main/facts.ts';
import { smallPlan } from './plans.ts';

const GIBIBYTE = 1024 ** 3;
const facts: AgentFacts = {
  ...gatherFacts({ id: 'a1', workers: 2 }),
  host: 'h',
  descriptorLimit: 20_000,
  ports: 28_232,
};

describe('the check of a share against the host', () => {
  it('finds nothing wrong with one that fits to the last descriptor and port', () => {
    expect(problems({ clients: 28_232, workers: 2 })).toEqual([]);
    expect(problems({ clients: 2 * (20_000 - 32), workers: 2, ports: 64_512 })).toEqual([]);
  });

  it('names descriptors that are missing, and how to get them', () => {
    expect(problems({ clients: 39_937, workers: 2, ports: 64_512 })).toEqual([
      'worker 0 needs 20,001 file descriptors for its clients, but a process may ' +
        'hold 20,000 here. Raise the limit before starting the agent (`ulimit -n 20001`), or ' +
        'spread the clients with `--workers 3` or more agents',
    ]);
  });

  it('names ports that are missing towards one broker address', () => {
    const [problem] = problems({ clients: 28_233, workers: 4 });
    expect(problem).toContain('28,233 clients would connect to 127.0.0.1:1883');
    expect(problem).toContain('28,232 local ports');
    expect(problem).toContain('sysctl -w net.ipv4.ip_local_port_range');
  });

  it('counts clients by the url that they talk to', () => {
    const urls = [1883, 1884, 1885].map((port) => ({ scheme: 'mqtt', host: 'b', port }) as const);
    const plan = smallPlan({ clients: 10 });
    const three: Plan = {
      ...plan,
      targets: { broker: { name: 'broker', protocol: 'mqtt', urls, version: '3.1.1' } },
    };
    // Clients 0, 3, 6 and 9 talk to the first one.
    expect(problems({ plan: three, workers: 3, ports: 4 })).toEqual([]);
    const [problem, ...others] = problems({ plan: three, workers: 3, ports: 3 });
    expect(problem).toContain('4 clients would connect to b:1883');
    expect(others).toEqual([]);
  });

  it('names memory that is missing', () => {
    const [problem] = problems({ clients: 1_000, workers: 8, memoryAvailableBytes: GIBIBYTE / 2 });
    expect(problem).toContain('8 workers with 1,000 clients need about 776 MiB');
    expect(problem).toContain('512 MiB are free');
  });
});

interface Case {
  readonly clients?: number;
  readonly plan?: Plan;
  readonly workers: number;
  readonly ports?: number;
  readonly memoryAvailableBytes?: number;
}

function problems(given: Case): string[] {
  const plan = given.plan ?? smallPlan({ clients: given.clients ?? 10 });
  const sizes = plan.groups.map(({ clients }) => clients);
  const [share] = split(sizes, [{ agent: 'a1', workers: given.workers }]);
  if (share === undefined) throw new Error('no share');
  return capacityProblems({
    plan,
    share,
    facts: { ...facts, ports: given.ports ?? facts.ports },
    memoryAvailableBytes: given.memoryAvailableBytes ?? 8 * GIBIBYTE,
  });
}
