/**
 * Whether a topic matches a topic filter [MQTT-4.7.1]. `+` stands for one level, an empty one
 * included, `#` for any number of levels, none included: `a/#` matches `a` [MQTT-4.7.1-2]. Filters
 * that begin with a wildcard do not match topics that begin with `$` [MQTT-4.7.2-1].
 */
export function matchesFilter(filter: string, topic: string): boolean {
  if (topic.startsWith('$') && (filter.startsWith('#') || filter.startsWith('+'))) return false;
  const pattern = filter.split('/');
  const levels = topic.split('/');
  for (const [k, level] of pattern.entries()) {
    if (level === '#') return k === pattern.length - 1;
    if (k >= levels.length || (level !== '+' && level !== levels[k])) return false;
  }
  return pattern.length === levels.length;
}

/** Whether a filter has a wildcard. */
export function hasWildcard(filter: string): boolean {
  return filter.includes('+') || filter.includes('#');
}

/** What stands behind `$share/name/`, or null where the filter is not of a shared subscription. */
export function sharedFilter(filter: string): string | null {
  return /^\$share\/[^/]+\/(.+)$/.exec(filter)?.[1] ?? null;
}
