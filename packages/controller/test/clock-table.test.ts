import type { AgentFacts, FromController } from '@squall/core/control';
import { clockDomainHash } from '@squall/core/stamp';
import { describe, expect, it } from 'vitest';
import type { AgentSession } from '../src/hub/session.ts';
import { ClockTable } from '../src/run/clock-table.ts';
import { Roster } from '../src/run/roster.ts';
import { RunAgent } from '../src/run/run-agent.ts';
import { FakeTime } from './fake-time.ts';

interface Host {
  readonly domain: string;
  readonly offsetUs: number;
  readonly boundUs?: number;
}

const HERE = 'here';
const SECOND = 1_000_000;

/** A run over agents whose clocks are as said, and what each was told. */
function scene(hosts: readonly Host[]) {
  const time = new FakeTime();
  const told: FromController[][] = hosts.map(() => []);
  const clocks = hosts.map(({ offsetUs, boundUs = 100 }) => ({
    agentUs: -offsetUs,
    offsetUs,
    boundUs,
    rttUs: 2 * boundUs,
  }));
  const agents = hosts.map(({ domain }, index) => {
    const facts = { clockDomain: domain } as AgentFacts;
    const session = {
      id: `a${index}`,
      facts,
      get clock() {
        return clocks[index];
      },
      send: (message: FromController) => {
        told[index]?.push(message);
        return true;
      },
    };
    const share = { agent: session.id, workers: [] };
    return new RunAgent(session as unknown as AgentSession, share);
  });
  const roster = new Roster({ run: 'run-1', agents, keep: () => null });
  const doubts: string[] = [];
  const table = new ClockTable({
    time,
    roster,
    clockDomain: HERE,
    doubt: (reason) => doubts.push(reason),
  });
  return { time, told, clocks, agents, doubts, table };
}

describe('the table of clocks', () => {
  it('is told to nobody where all agents share one clock', () => {
    const { time, told, table } = scene([
      { domain: 'b', offsetUs: 5 },
      { domain: 'b', offsetUs: 6 },
    ]);
    time.advance(10 * SECOND);
    expect(told.flat()).toEqual([]);
    table.stop();
    expect(time.armed).toBe(0);
  });

  it('is told to every agent at once and each second, the controller’s own clock without a bound', () => {
    const { time, told, table } = scene([
      { domain: HERE, offsetUs: 3, boundUs: 40 },
      { domain: 'b', offsetUs: 7_000_000, boundUs: 90 },
    ]);
    const first = {
      type: 'clocks',
      run: 'run-1',
      epoch: 1,
      at: 0,
      domains: [
        { domain: clockDomainHash(HERE), offsetUs: 0, boundUs: 0 },
        { domain: clockDomainHash('b'), offsetUs: 7_000_000, boundUs: 90 },
      ],
    };
    expect(told).toEqual([[first], [first]]);
    time.advance(SECOND);
    // 100 ppm of a second.
    expect(told[0]?.[1]).toMatchObject({ at: SECOND, domains: [{ boundUs: 0 }, { boundUs: 190 }] });
    table.stop();
  });

  it('takes of the agents of one host what all of them allow', () => {
    const { told, table } = scene([
      { domain: HERE, offsetUs: 0 },
      { domain: 'b', offsetUs: 1_000, boundUs: 100 },
      { domain: 'b', offsetUs: 1_150, boundUs: 100 },
    ]);
    expect(told[0]?.[0]).toMatchObject({ domains: [{}, { offsetUs: 1_075, boundUs: 25 }] });
    table.stop();
  });

  it('raises a doubt, once, where agents of one clock contradict each other', () => {
    const { time, doubts, table } = scene([
      { domain: 'b', offsetUs: 0, boundUs: 100 },
      { domain: 'b', offsetUs: 50_000, boundUs: 100 },
      { domain: HERE, offsetUs: 9_000, boundUs: 100 },
    ]);
    time.advance(5 * SECOND);
    expect(doubts).toEqual([
      'the clocks of agents a0, a1 are said to be one, and are not',
      "the clock of agent a2 is said to be the controller's, and is not",
    ]);
    table.stop();
  });

  it('raises a doubt where a clock jumped, unless all share it', () => {
    const one = { domain: 'b', offsetUs: 0 };
    expect(doubtsAfterJump([one, { domain: 'c', offsetUs: 5 }])).toEqual([
      'the clock of agent a0 jumped',
    ]);
    expect(doubtsAfterJump([one])).toEqual([]);
  });

  it('leaves an agent out that is lost, and goes by its newest estimate', () => {
    const { time, told, clocks, agents, table } = scene([
      { domain: HERE, offsetUs: 0 },
      { domain: 'b', offsetUs: 1_000 },
    ]);
    clocks[1] = { agentUs: SECOND - 1_040, offsetUs: 1_040, boundUs: 60, rttUs: 120 };
    if (agents[0]) agents[0].lost = { atUs: 1, reason: 'gone' };
    time.advance(SECOND);
    expect(told.map((list) => list.length)).toEqual([1, 2]);
    expect(told[1]?.[1]).toMatchObject({ domains: [{}, { offsetUs: 1_040, boundUs: 60 }] });
    table.stop();
  });
});

/** The first host's clock jumps, which is told. */
function doubtsAfterJump(hosts: readonly Host[]): string[] {
  const { time, clocks, doubts, table } = scene(hosts);
  // Within both bounds and the drift of a second.
  clocks[0] = { agentUs: SECOND, offsetUs: 250, boundUs: 100, rttUs: 200 };
  time.advance(SECOND);
  expect(doubts).toEqual([]);
  clocks[0] = { agentUs: 2 * SECOND, offsetUs: -40_000, boundUs: 100, rttUs: 200 };
  time.advance(SECOND);
  table.stop();
  return doubts;
}
