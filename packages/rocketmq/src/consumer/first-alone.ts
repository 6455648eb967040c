/**
 * Commits of one group, side by side but for the first at each broker, which goes alone. A broker makes
 * the table of a group and topic at the first commit; of two that come at once both make one, and the
 * second table replaces the first with the offset that is in it (`ConsumerOffsetManager`, 4.x and 5.x):
 * that queue is then read from its start.
 */
export async function firstAlone<Item>(
  items: readonly Item[],
  addressOf: (item: Item) => string,
  commit: (item: Item) => Promise<void>,
): Promise<void> {
  const byAddress = new Map<string, Item[]>();
  for (const item of items) {
    const address = addressOf(item);
    const known = byAddress.get(address);
    if (known === undefined) byAddress.set(address, [item]);
    else known.push(item);
  }
  await Promise.all([...byAddress.values()].map((ofBroker) => commitAll(ofBroker, commit)));
}

async function commitAll<Item>(
  [first, ...rest]: readonly Item[],
  commit: (item: Item) => Promise<void>,
): Promise<void> {
  if (first !== undefined) await commit(first);
  await Promise.all(rest.map(commit));
}
