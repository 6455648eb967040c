/**
 * Who owns which clients. Clients of each group are cut into contiguous ranges over the agents (in
 * the order of their ids, weighted by their workers), then over each agent's workers, by largest
 * remainder. The cut depends on the plan and on the agents alone, so every party computes the same
 * one, and the union over any number of agents is the whole group, once.
 */
export interface AgentWeight {
  readonly agent: string;
  /** Worker processes, ≥ 1: the weight of the agent. */
  readonly workers: number;
}

/** Client indexes from 0, `last` included. An empty range has `clients` 0 and `last = first - 1`. */
export interface ClientRange {
  readonly first: number;
  readonly last: number;
  readonly clients: number;
}

export interface WorkerShare {
  /** One range a group, by the group's index in the plan. */
  readonly groups: readonly ClientRange[];
}

export interface AgentShare {
  readonly agent: string;
  readonly workers: readonly WorkerShare[];
}

/**
 * Splits groups of the given sizes over the agents.
 * @throws RangeError when there is no agent, an agent id occurs twice or a worker count is below 1.
 */
export function split(groupSizes: readonly number[], agents: readonly AgentWeight[]): AgentShare[] {
  const ordered = inOrder(agents);
  const cuts = groupSizes.map((size) => cutGroup(size, ordered));
  return ordered.map((agent, k) => ({
    agent: agent.agent,
    workers: Array.from({ length: agent.workers }, (_, w) => ({
      groups: cuts.map((cut) => cut[k]?.[w] ?? range(0, 0)),
    })),
  }));
}

/** Shares of `total` by largest remainder: they add up exactly; ties go to the earlier one. */
export function apportion(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const shares = exact.map(Math.floor);
  const left = total - shares.reduce((a, b) => a + b, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .toSorted((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of byRemainder.slice(0, left)) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}

function inOrder(agents: readonly AgentWeight[]): AgentWeight[] {
  if (agents.length === 0) throw new RangeError('a plan cannot be split over no agents');
  const ids = new Set<string>();
  for (const { agent, workers } of agents) {
    if (ids.has(agent)) throw new RangeError(`agent ${agent} occurs twice`);
    if (!Number.isInteger(workers) || workers < 1) {
      throw new RangeError(`agent ${agent} must have at least one worker, not ${workers}`);
    }
    ids.add(agent);
  }
  // By code unit, not by locale: every party must sort alike.
  return agents.toSorted((a, b) => (a.agent < b.agent ? -1 : 1));
}

function cutGroup(size: number, agents: readonly AgentWeight[]): ClientRange[][] {
  const shares = apportion(
    size,
    agents.map((agent) => agent.workers),
  );
  let next = 0;
  return agents.map((agent, k) => {
    const ofWorkers = apportion(shares[k] ?? 0, Array<number>(agent.workers).fill(1));
    return ofWorkers.map((clients) => {
      const cut = range(next, clients);
      next += clients;
      return cut;
    });
  });
}

function range(first: number, clients: number): ClientRange {
  return { first, last: first + clients - 1, clients };
}
