// Data path

/**
 * Which of several topics each message of a stream goes to. The topics stand in a round as long as the
 * sum of their weights (divided by what divides them all), each spread evenly over it; message `j` of
 * the client with index `n` takes place `n + j`. So any such many messages in a row of one client hold
 * each topic exactly as often as its weight says, the clients are at different places at any moment,
 * and everybody who knows the plan knows the topic of every message.
 */
export class TopicRound {
  readonly #round: Uint32Array;

  /** @param weights whole, ≥ 1, one a topic; ≥ 1 of them. */
  constructor(weights: readonly number[]) {
    const divisor = weights.reduce(commonDivisor, 0);
    this.#round = spreadOut(Array.from(weights, (weight) => weight / divisor));
  }

  /** Messages until the topics come again in the same order. */
  get length(): number {
    return this.#round.length;
  }

  /** Index of the topic of message `j` (from 0) of the client with index `n` (from 0). */
  topicOf(n: number, j: number): number {
    return this.#round[(n + j) % this.#round.length] ?? 0;
  }
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** Turn k of a topic with weight w is due at (k + ½) / w of the round: all turns in that order. */
function spreadOut(weights: readonly number[]): Uint32Array {
  const turns: { readonly topic: number; readonly due: number }[] = [];
  for (const [topic, weight] of weights.entries()) {
    for (let k = 0; k < weight; k++) turns.push({ topic, due: (k + 0.5) / weight });
  }
  const inOrder = turns.toSorted((a, b) => a.due - b.due || a.topic - b.topic);
  return Uint32Array.from(inOrder, ({ topic }) => topic);
}
