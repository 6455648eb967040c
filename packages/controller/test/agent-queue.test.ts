import { describe, expect, it } from 'vitest';
import { AgentQueue, type AgentWish, type Candidate } from '../src/run/agent-queue.ts';

interface Agent extends Candidate {
  readonly name: string;
  idle: boolean;
}

function agent(name: string, more: Partial<Agent> = {}): Agent {
  return { name, connected: true, idle: true, clock: {}, facts: { labels: {} }, ...more };
}

function wish(run: string, count: number | null, labels: Record<string, string> = {}): AgentWish {
  return { run, count, labels };
}

/** A queue over these agents, with these wishes in it. */
function queueOf(agents: Agent[], wishes: AgentWish[]): AgentQueue<Agent> {
  const queue = new AgentQueue(() => agents);
  for (const one of wishes) queue.enter(one);
  return queue;
}

function names(agents: readonly Agent[] | null): string[] | null {
  return agents === null ? null : agents.map(({ name }) => name);
}

describe('runs that wait for agents', () => {
  it('get as many as they ask for, in the order of the ids', () => {
    const first = wish('r1', 2);
    expect(names(queueOf([agent('a'), agent('b'), agent('c')], [first]).offer(first))).toEqual([
      'a',
      'b',
    ]);
  });

  it('never get agents that only observe their host', () => {
    const first = wish('r1', null);
    const observer = agent('a', { facts: { labels: {}, observes: true } });
    const queue = queueOf([observer], [first]);
    expect(queue.offer(first)).toBeNull();
    expect(queue.isShort(first)).toBe(true);
    expect(names(queueOf([observer, agent('b')], [first]).offer(first))).toEqual(['b']);
  });

  it('get all that are free where they name no number, and one at least', () => {
    const first = wish('r1', null);
    const agents = [agent('a'), agent('b', { idle: false }), agent('c')];
    expect(names(queueOf(agents, [first]).offer(first))).toEqual(['a', 'c']);
    expect(queueOf([], [first]).offer(first)).toBeNull();
  });

  it('get only agents that are there, whose clock is known and whose labels fit', () => {
    const first = wish('r1', 1, { zone: 'north' });
    const fit = { facts: { labels: { zone: 'north', disk: 'ssd' } } };
    const agents = [
      agent('other', { facts: { labels: { zone: 'south' } } }),
      agent('cut off', { ...fit, connected: false, idle: false }),
      agent('new', { ...fit, clock: null }),
      agent('fit', fit),
    ];
    expect(names(queueOf(agents, [first]).offer(first))).toEqual(['fit']);
  });

  it('use the agents side by side that the earlier ones do not need', () => {
    const [first, second] = [wish('r1', 1), wish('r2', 1)];
    const queue = queueOf([agent('a'), agent('b')], [first, second]);
    expect(names(queue.offer(second))).toEqual(['b']);
    expect(names(queue.offer(first))).toEqual(['a']);
  });

  it('do not overtake one that needs more agents than are free', () => {
    const [big, small] = [wish('r1', 2), wish('r2', 1)];
    const agents = [agent('a'), agent('b', { idle: false })];
    const queue = queueOf(agents, [big, small]);
    expect(queue.offer(big)).toBeNull();
    expect(queue.offer(small)).toBeNull();
    queue.leave(big);
    expect(names(queue.offer(small))).toEqual(['a']);
  });

  it('pass one by for which there are too few agents in all', () => {
    const [big, small] = [wish('r1', 3), wish('r2', 1)];
    const queue = queueOf([agent('a'), agent('b', { idle: false })], [big, small]);
    expect(queue.isShort(big)).toBe(true);
    expect(queue.isShort(small)).toBe(false);
    expect(names(queue.offer(small))).toEqual(['a']);
  });

  it('pass one by that cannot use the free agents', () => {
    const north = wish('r1', 1, { zone: 'north' });
    const any = wish('r2', 1);
    const agents = [
      agent('n', { idle: false, facts: { labels: { zone: 'north' } } }),
      agent('s', { facts: { labels: { zone: 'south' } } }),
    ];
    const queue = queueOf(agents, [north, any]);
    expect(queue.offer(north)).toBeNull();
    expect(names(queue.offer(any))).toEqual(['s']);
  });

  it('are told when one before them has gone', () => {
    const [first, second] = [wish('r1', 1), wish('r2', 1)];
    const queue = queueOf([], [first, second]);
    let told = 0;
    const stop = queue.onChange(() => told++);
    queue.leave(first);
    expect(told).toBe(1);
    stop();
    queue.leave(second);
    expect(told).toBe(1);
  });
});
