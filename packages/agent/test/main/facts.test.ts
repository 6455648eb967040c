import { existsSync, readFileSync } from 'node:fs';
import { agentFacts } from '@squall/core/control';
import { describe, expect, it } from 'vitest';
import { gatherFacts } from '../../src/main/facts.ts';

const hasProc = existsSync('/proc/self/limits');

describe('what an agent says of its host', () => {
  it('fits the protocol and names the process', () => {
    const facts = gatherFacts({});
    expect(agentFacts.parse(facts)).toEqual(facts);
    expect(facts.id).toContain(String(process.pid));
    expect(facts.workers).toBe(facts.cores);
    expect(facts.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.skipIf(!hasProc)('is what the system says', () => {
    const facts = gatherFacts({});
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const [low, high] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/);
    expect(facts.clockDomain).toContain(boot);
    expect(facts.clockDomain).toMatch(/time:\[\d+\]/);
    expect(facts.ports).toBe(Number(high) - Number(low) + 1);
    expect(facts.descriptorsFree).toBeLessThan(facts.descriptorLimit);
  });

  it('is careful where there is no /proc', () => {
    const facts = gatherFacts({ id: 'a', workers: 2, labels: { site: 'x' } }, '/no/such/folder');
    expect(facts).toMatchObject({
      id: 'a',
      workers: 2,
      labels: { site: 'x' },
      descriptorLimit: 1_024,
      ports: 16_384,
      clockDomain: `host ${facts.host}`,
    });
  });

  it.each([[{ workers: 0 }], [{ workers: 1.5 }], [{ id: '' }], [{ id: 'x'.repeat(101) }]])(
    'refuses %j',
    (options) => {
      expect(() => gatherFacts(options)).toThrow(expect.objectContaining({ code: 'SQ_USAGE' }));
    },
  );
});
