import type { Page } from '../../store/store.ts';

/**
 * One page and the cursor of the next, which is the id of the page's last entry: pages stay whole
 * whatever comes or goes meanwhile.
 */
export async function paged<T extends { readonly id: string }>(
  query: { readonly limit: number; readonly cursor?: string | undefined },
  read: (page: Page) => Promise<readonly T[]>,
): Promise<{ items: T[]; next: string | null }> {
  const { limit, cursor } = query;
  const found = await read({
    limit: limit + 1,
    ...(cursor === undefined ? {} : { after: cursor }),
  });
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** A parameter that was given once, several times or not at all. */
export function listOf<T extends string>(value: T | T[] | undefined): T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
