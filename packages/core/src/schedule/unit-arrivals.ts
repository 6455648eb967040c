// Data path: arrivals are asked for one by one.
/**
 * A Poisson process of rate 1 that is the same for everybody who knows its seed, and that can be
 * asked for any arrival, or for the number of arrivals before any place, without walking there.
 *
 * It is made from above: a tree over 2^42 gaps. The sum of 2m exponential gaps divides into the sums
 * of its halves by a Beta(m, m) share that is independent of the sum itself, so each node draws its
 * share from a generator that is seeded with the node's own place, and a leaf divides its sum over
 * 256 gaps likewise. No draw depends on which others were made, so any number of workers that look at
 * different arrivals see one process.
 */
const LEAF_BITS = 8;
const LEAF = 2 ** LEAF_BITS;
const DEPTH = 34;
/** Leaves kept, 2 KiB each once used: what waits in a backlog is looked at again. */
const KEPT_LEAVES = 256;

/** Arrivals that can be told apart: 50 days at a million a second. */
const MAX_ARRIVALS = 2 ** (DEPTH + LEAF_BITS);

export class UnitArrivals {
  readonly #random: SeededRandom;
  readonly #leaves: (Float64Array | undefined)[] = Array.from({ length: KEPT_LEAVES });
  readonly #leafOf = new Float64Array(KEPT_LEAVES).fill(-1);
  /** The way from the root to the leaf that was made last: node, begin and sum at each level. */
  readonly #nodes = new Float64Array(DEPTH + 1).fill(-1);
  readonly #starts = new Float64Array(DEPTH + 1);
  readonly #sums = new Float64Array(DEPTH + 1);

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#nodes[0] = 0;
    this.#random.seat(DEPTH + 1, 0);
    this.#sums[0] = gamma(this.#random, MAX_ARRIVALS);
  }

  /** Puts the place of arrival `index` (from 0) into `cell[0]`: the sum of its gaps, from 0 on. */
  locate(index: number, cell: Float64Array): void {
    const leaf = Math.floor(index / LEAF);
    cell[0] = this.#leaf(leaf)[index - leaf * LEAF] ?? 0;
  }

  /** Arrivals before `place`. */
  countBefore(place: number): number {
    if (!(place > 0)) return 0;
    if (place >= at(this.#sums, 0)) return MAX_ARRIVALS;
    let leaf = 0;
    for (let level = 0; level < DEPTH; level++) {
      // Down to the left first; where the place lies behind that half, to the right.
      this.#descend(level, leaf * 2);
      const rightAt = at(this.#starts, level + 1) + at(this.#sums, level + 1);
      leaf = leaf * 2 + (place < rightAt ? 0 : 1);
      if (leaf % 2 === 1) this.#descend(level, leaf);
    }
    const places = this.#leaf(leaf);
    let low = 0;
    let high = LEAF;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (at(places, middle) < place) low = middle + 1;
      else high = middle;
    }
    return leaf * LEAF + low;
  }

  /** Places of the arrivals of a leaf. */
  #leaf(leaf: number): Float64Array {
    const slot = leaf % KEPT_LEAVES;
    let places = this.#leaves[slot];
    if (places === undefined) {
      places = new Float64Array(LEAF);
      this.#leaves[slot] = places;
    } else if (this.#leafOf[slot] === leaf) return places;
    this.#leafOf[slot] = leaf;
    for (let level = 0; level < DEPTH; level++) {
      this.#descend(level, Math.floor(leaf / 2 ** (DEPTH - 1 - level)));
    }
    this.#fill(places, leaf);
    return places;
  }

  /** Makes `child` the node of the way at `level + 1`; its parent is on the way already. */
  #descend(level: number, child: number): void {
    if (at(this.#nodes, level + 1) === child) return;
    const parent = Math.floor(child / 2);
    const start = at(this.#starts, level);
    const sum = at(this.#sums, level);
    this.#random.seat(level, parent);
    const half = MAX_ARRIVALS / 2 ** (level + 1);
    const a = gamma(this.#random, half);
    const left = (sum * a) / (a + gamma(this.#random, half));
    const isLeft = child % 2 === 0;
    this.#nodes[level + 1] = child;
    this.#starts[level + 1] = isLeft ? start : start + left;
    this.#sums[level + 1] = isLeft ? left : sum - left;
    // What was below belongs to another node now.
    if (level + 2 <= DEPTH) this.#nodes.fill(-1, level + 2);
  }

  #fill(places: Float64Array, leaf: number): void {
    const random = this.#random;
    random.seat(DEPTH, leaf);
    let sum = 0;
    for (let k = 0; k < LEAF; k++) {
      random.next();
      sum -= Math.log(at(random.unit, 0));
      places[k] = sum;
    }
    const start = at(this.#starts, DEPTH);
    const scale = at(this.#sums, DEPTH) / sum;
    for (let k = 0; k < LEAF; k++) places[k] = start + at(places, k) * scale;
  }
}

/** sfc32, seated at a place of the tree: small, fast, and good enough for arrivals. */
class SeededRandom {
  readonly #seed: number;
  readonly #state = new Int32Array(4);
  /** The last number, above 0 and below 1: in a cell, where it needs no box. */
  readonly unit = new Float64Array(1);

  constructor(seed: number) {
    this.#seed = seed | 0;
  }

  /** Begins the row of numbers that belongs to a node. */
  seat(level: number, node: number): void {
    this.#state[0] = this.#seed;
    this.#state[1] = (node % 2 ** 32) | 0;
    this.#state[2] = (Math.floor(node / 2 ** 32) << 8) | level;
    this.#state[3] = 1;
    for (let round = 0; round < 12; round++) this.next();
  }

  next(): void {
    const s = this.#state;
    const sum = (int(s, 0) + int(s, 1) + int(s, 3)) | 0;
    s[3] = int(s, 3) + 1;
    s[0] = int(s, 1) ^ (int(s, 1) >>> 9);
    s[1] = int(s, 2) + (int(s, 2) << 3);
    s[2] = ((int(s, 2) << 21) | (int(s, 2) >>> 11)) + sum;
    this.unit[0] = ((sum >>> 0) + 0.5) / 4_294_967_296;
  }
}

/** A Gamma(shape, 1) number, by Marsaglia and Tsang (2000); shapes here are 256 and more. */
function gamma(random: SeededRandom, shape: number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  // Refused less than once in 10,000 times: the bound is never met.
  for (let tried = 0; tried < 64; tried++) {
    random.next();
    const radius = Math.sqrt(-2 * Math.log(at(random.unit, 0)));
    random.next();
    const x = radius * Math.cos(2 * Math.PI * at(random.unit, 0));
    const v = (1 + c * x) ** 3;
    random.next();
    if (v > 0 && Math.log(at(random.unit, 0)) < (x * x) / 2 + d * (1 - v + Math.log(v)))
      return d * v;
  }
  return d;
}

function at(array: Float64Array, index: number): number {
  return array[index] ?? 0;
}

function int(array: Int32Array, index: number): number {
  return array[index] ?? 0;
}
