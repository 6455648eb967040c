import { describe, expect, test } from 'vitest';
import { firstAlone } from '../../src/consumer/first-alone.ts';

interface Commit {
  readonly item: string;
  done(): void;
}

/** Commits that stay open until the test says that they were answered. */
function openCommits(items: readonly string[]): { commits: Commit[]; all: Promise<void> } {
  const commits: Commit[] = [];
  const all = firstAlone(
    items,
    (item) => item.slice(0, 1),
    (item) => new Promise<void>((done) => commits.push({ item, done })),
  );
  return { commits, all };
}

function itemsOf(commits: readonly Commit[]): string[] {
  return commits.map((each) => each.item);
}

async function answer(commits: readonly Commit[], item: string): Promise<void> {
  commits.find((each) => each.item === item)?.done();
  await new Promise(setImmediate);
}

describe('the first commit of a group', () => {
  test('is answered before any other leaves for the same broker', async () => {
    const { commits, all } = openCommits(['a0', 'a1', 'a2']);
    expect(itemsOf(commits)).toEqual(['a0']);
    await answer(commits, 'a0');
    expect(itemsOf(commits)).toEqual(['a0', 'a1', 'a2']);
    await answer(commits, 'a1');
    await answer(commits, 'a2');
    await all;
  });

  test('waits for no other broker', async () => {
    const { commits, all } = openCommits(['a0', 'b0', 'a1', 'b1']);
    expect(itemsOf(commits)).toEqual(['a0', 'b0']);
    await answer(commits, 'b0');
    expect(itemsOf(commits)).toEqual(['a0', 'b0', 'b1']);
    await answer(commits, 'a0');
    expect(itemsOf(commits)).toEqual(['a0', 'b0', 'b1', 'a1']);
    await answer(commits, 'a1');
    await answer(commits, 'b1');
    await all;
  });

  test('that is refused is told, and nothing follows it', async () => {
    const asked: string[] = [];
    const all = firstAlone(
      ['a0', 'a1'],
      () => 'a',
      async (item) => {
        asked.push(item);
        await Promise.reject(new Error('refused'));
      },
    );
    await expect(all).rejects.toThrow('refused');
    expect(asked).toEqual(['a0']);
  });
});
