import { hasWildcard, sharedFilter } from './matches-filter.ts';

/** A level of the topic tree: what comes below, and the topic that ends here. */
interface TreeNode {
  readonly below: Map<string, TreeNode>;
  topic: number;
}

/**
 * All topics of a plan, numbered from 0 in the order in which they were added, and which of them a
 * filter matches: by one look-up for a plain filter, by a walk through the tree for one with
 * wildcards. So neither costs a look at every topic, nor pairs a product of topics and filters.
 */
export class TopicIndex {
  readonly #numbers = new Map<string, number>();
  #root: TreeNode | null = null;

  get size(): number {
    return this.#numbers.size;
  }

  /** The number of a topic, given when it is added first. */
  add(topic: string): number {
    const known = this.#numbers.get(topic);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(topic, number);
    if (this.#root !== null) plant(this.#root, topic, number);
    return number;
  }

  /** Numbers of the topics that a filter matches, in no order; a shared one as its inner filter. */
  matches(filter: string): number[] {
    const plain = sharedFilter(filter) ?? filter;
    if (!hasWildcard(plain)) {
      const number = this.#numbers.get(plain);
      return number === undefined ? [] : [number];
    }
    const matched: number[] = [];
    collect(this.#tree(), plain.split('/'), matched);
    return matched;
  }

  /** The tree costs memory, so it is made when the first wildcard asks for it. */
  #tree(): TreeNode {
    if (this.#root !== null) return this.#root;
    const root = makeNode();
    for (const [topic, number] of this.#numbers) plant(root, topic, number);
    this.#root = root;
    return root;
  }
}

function makeNode(): TreeNode {
  return { below: new Map(), topic: -1 };
}

function plant(root: TreeNode, topic: string, number: number): void {
  let node = root;
  for (const level of topic.split('/')) {
    let next = node.below.get(level);
    if (next === undefined) {
      next = makeNode();
      node.below.set(level, next);
    }
    node = next;
  }
  node.topic = number;
}

/** Walks the tree by the levels of a filter; breadth first, so that no filter can overflow a stack. */
function collect(root: TreeNode, pattern: readonly string[], matched: number[]): void {
  let nodes: TreeNode[] = [root];
  for (const [depth, level] of pattern.entries()) {
    if (level === '#') {
      collectAll(nodes, depth === 0, matched);
      return;
    }
    const below: TreeNode[] = [];
    for (const node of nodes) {
      if (level === '+') {
        for (const child of childrenOf(node, depth === 0)) below.push(child);
      } else {
        const next = node.below.get(level);
        if (next !== undefined) below.push(next);
      }
    }
    nodes = below;
  }
  for (const { topic } of nodes) if (topic >= 0) matched.push(topic);
}

function collectAll(from: readonly TreeNode[], atRoot: boolean, matched: number[]): void {
  let nodes = from.slice();
  let first = atRoot;
  while (nodes.length > 0) {
    const below: TreeNode[] = [];
    for (const node of nodes) {
      if (node.topic >= 0) matched.push(node.topic);
      for (const child of childrenOf(node, first)) below.push(child);
    }
    nodes = below;
    first = false;
  }
}

/** Wildcards at the front do not reach topics of the broker's own, which begin with `$`. */
function* childrenOf(node: TreeNode, atRoot: boolean): Generator<TreeNode> {
  for (const [level, child] of node.below) if (!atRoot || !level.startsWith('$')) yield child;
}
