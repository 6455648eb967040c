/**
 * Whether a topic filter may match a topic, both still with their templates in them: a level with a
 * template may be any level. Used to tell which publishers somebody waits for, so a doubtful yes is
 * better than none at all [MQTT-4.7].
 */
export function mayMatch(topic: string, filter: string): boolean {
  const levels = topic.split('/');
  const wanted = withoutShare(filter.split('/'));
  for (const [at, want] of wanted.entries()) {
    if (want === '#') return true;
    const level = levels[at];
    if (level === undefined) return false;
    if (want !== '+' && want !== level && !isTemplate(want) && !isTemplate(level)) return false;
  }
  return levels.length === wanted.length;
}

/** `$share/name/filter` is the filter. */
function withoutShare(levels: readonly string[]): readonly string[] {
  return levels[0] === '$share' ? levels.slice(2) : levels;
}

function isTemplate(level: string): boolean {
  return level.includes('{{');
}
