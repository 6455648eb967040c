import { split } from '@squall/core/partition';
import type { BrokerUrl, Plan, Spread } from '@squall/core/plan';
import { describe, expect, it } from 'vitest';
import { examineHost, refusals } from '../../src/host/examine.ts';
import type { HostReading } from '../../src/host/host-reading.ts';
import { smallPlan } from '../main/plans.ts';
import { host } from './hosts.ts';

const GIBIBYTE = 1024 ** 3;

describe('the check of a share against its host', () => {
  it('finds nothing wrong with one that fits to the last descriptor and port', () => {
    expect(refused({ clients: 28_232, workers: 2 })).toEqual([]);
    expect(refused({ clients: 2 * (20_000 - 64), workers: 2, ports: 64_536 })).toEqual([]);
  });

  it('names descriptors that are missing, and how to get them', () => {
    expect(refused({ clients: 39_873, workers: 2, ports: 64_536 })).toEqual([
      'descriptors: 20,000 file descriptors a process (soft and hard limit), needed: 20,001 in worker 0, ' +
        'for 19,937 clients. This user cannot raise the hard limit (CAP_SYS_RESOURCE is missing): it ' +
        'is set where the login, service or container is defined; or the clients are spread: ' +
        '/etc/security/limits.d: * hard nofile 1048576 · or · systemd: LimitNOFILE=1048576 · or · ' +
        'docker run --ulimit nofile=1048576:1048576 · or · --workers 3 of each agent, or more agents',
    ]);
  });

  it('gives the one command to a user who may raise the limit', () => {
    const descriptors = { soft: 20_000, hard: 20_000, raisable: true };
    const [problem] = refused({ clients: 30_000, workers: 1, ports: 64_536, descriptors });
    expect(problem).toContain('ulimit -n 1048576 · or · --workers 2');
    const [far] = refused({ clients: 2_000_000, workers: 1, ports: 3e6, descriptors });
    expect(far).toContain('sysctl -w fs.nr_open=2000064 && ulimit -n 2000064');
  });

  it('names ports that are missing towards one broker address', () => {
    const [problem, ...others] = refused({ clients: 28_233, workers: 4 });
    expect(problem).toContain('28,232 local ports from one source address to 127.0.0.1:1883');
    expect(problem).toContain('needed: 28,233, one a client');
    expect(problem).toContain('sysctl -w net.ipv4.ip_local_port_range="1000 65535"');
    expect(others).toEqual([]);
  });

  it('counts ports a source address', () => {
    const plan = withGroup({ sourceAddresses: ['127.0.0.1', '127.0.0.2', '127.0.0.3'] });
    expect(refused({ plan, workers: 1, ports: 4 })).toEqual([]);
    const [problem] = refused({ plan, workers: 1, ports: 3 });
    expect(problem).toContain('3 local ports of 127.0.0.1');
    expect(problem).toContain('more sourceAddresses of this host');
  });

  // Ten clients on three addresses: which of them needs how many ports.
  it.each([
    ['round-robin', 4],
    ['blocks', 4],
    ['first', 10],
  ] as const)('counts clients by the address that they talk to (%s)', (spread, most) => {
    const plan = withUrls(spread);
    expect(refused({ plan, workers: 3, ports: most })).toEqual([]);
    const [problem, ...others] = refused({ plan, workers: 3, ports: most - 1 });
    expect(problem).toContain(`needed: ${most}, one a client`);
    expect(problem).toContain('b:1883');
    expect(others).toEqual([]);
  });

  it('names memory that is missing', () => {
    const memoryAvailableBytes = GIBIBYTE / 2;
    const [problem] = refused({ clients: 1_000, workers: 8, memoryAvailableBytes });
    expect(problem).toContain('about 776 MiB for 8 workers with 1,000 clients');
    expect(problem).toContain('512 MiB of 24,576 MiB are free');
  });

  it('counts more memory for clients with TLS', () => {
    const memoryAvailableBytes = 120 * 1024 ** 2;
    const plan = withUrls('first', 'mqtts', 1_000);
    expect(refused({ plan, workers: 1, memoryAvailableBytes })[0]).toContain('about 143 MiB');
    expect(
      refused({ plan: withUrls('first', 'mqtt', 1_000), workers: 1, memoryAvailableBytes }),
    ).toEqual([]);
  });
});

describe('the examination of a host', () => {
  it('holds every setting of the published load tests, to the digit', () => {
    const findings = examineHost({ host: host(), work: null });
    const wanted = Object.fromEntries(findings.map(({ check, needs }) => [check, needs]));
    expect(wanted).toMatchObject({
      descriptors: '1,048,576 on a host for much load',
      'fs.file-max': '2097152',
      'fs.nr_open': '2097152',
      'net.ipv4.ip_local_port_range': '1000 65535',
      'net.core.somaxconn': '32768',
      'net.ipv4.tcp_max_syn_backlog': '16384',
      'net.core.netdev_max_backlog': '16384',
      'net.core.rmem_default': '262144',
      'net.core.wmem_default': '262144',
      'net.core.rmem_max': '16777216',
      'net.core.wmem_max': '16777216',
      'net.ipv4.tcp_rmem': '1024 4096 16777216',
      'net.ipv4.tcp_wmem': '1024 4096 16777216',
      'net.ipv4.tcp_max_tw_buckets': '1048576',
      'net.ipv4.tcp_fin_timeout': '15',
    });
  });

  it('finds what is better already good', () => {
    const states = statesOf(host(), 20_000);
    expect(states['fs.file-max']).toBe('ok');
    expect(states['net.ipv4.tcp_rmem']).toBe('ok');
    expect(states['net.ipv4.tcp_wmem']).toBe('warn');
    expect(states['net.ipv4.tcp_fin_timeout']).toBe('warn');
  });

  it('leaves settings in peace where few clients are', () => {
    const states = statesOf(host(), 100);
    expect(Object.values(states)).not.toContain('warn');
    expect(Object.values(states)).not.toContain('fail');
  });

  it('warns of too few cores for the messages that are planned', () => {
    const plan = smallPlan();
    const busy: Plan = {
      ...plan,
      stages: plan.stages.map((stage) => ({
        ...stage,
        run: stage.run.map((work) => ({
          ...work,
          activities: [
            { kind: 'publish', stream: 0, pace: { kind: 'rate', perS: 500_000 }, inflight: 1 },
          ],
        })),
      })),
    };
    const [share] = split([10], [{ agent: 'a1', workers: 2 }]);
    const found = examineHost({
      host: host(),
      work: { plan: busy, shares: share === undefined ? [] : [share] },
    }).find(({ check }) => check === 'cores');
    expect(found).toMatchObject({ state: 'warn', is: '2 cores, 2 workers' });
    expect(found?.needs).toContain('about 11 for 500,000 messages a second');
  });

  it('tells of a clock that nobody keeps, and of one that is slow to read', () => {
    const findings = examineHost({
      host: host({ clockSynchronised: false, clockSource: 'hpet' }),
      work: null,
    });
    const states = Object.fromEntries(findings.map(({ check, state }) => [check, state]));
    expect(states).toMatchObject({ clock: 'warn', 'clock source': 'warn' });
  });
});

interface Case extends Partial<HostReading> {
  readonly clients?: number;
  readonly plan?: Plan;
  readonly workers: number;
  readonly ports?: number;
}

function refused({ clients = 10, plan = smallPlan({ clients }), workers, ...rest }: Case) {
  const sizes = plan.groups.map((group) => group.clients);
  const [share] = split(sizes, [{ agent: 'a1', workers }]);
  if (share === undefined) throw new Error('no share');
  return refusals(host(rest), plan, share);
}

function statesOf(found: HostReading, clients: number): Record<string, string> {
  const plan = smallPlan({ clients });
  const shares = split([clients], [{ agent: 'a1', workers: 2 }]);
  const findings = examineHost({ host: found, work: { plan, shares } });
  return Object.fromEntries(findings.map(({ check, state }) => [check, state]));
}

function withGroup(change: { readonly sourceAddresses: readonly string[] }): Plan {
  const plan = smallPlan({ clients: 10 });
  return { ...plan, groups: plan.groups.map((group) => ({ ...group, ...change })) };
}

function withUrls(spread: Spread, scheme: BrokerUrl['scheme'] = 'mqtt', clients = 10): Plan {
  const plan = smallPlan({ clients });
  const urls = [1883, 1884, 1885].map((port) => ({ scheme, host: 'b', port, path: '' }) as const);
  const targets = Object.fromEntries(
    Object.entries(plan.targets).map(([name, target]) => [name, { ...target, urls, spread }]),
  );
  return { ...plan, targets };
}
