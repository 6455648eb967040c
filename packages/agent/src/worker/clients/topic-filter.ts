/** Whether a topic matches a filter, wildcards included [MQTT-4.7.1]. */
export function topicMatches(filter: string, topic: string): boolean {
  const pattern = filter.startsWith('$share/') ? filter.split('/').slice(2) : filter.split('/');
  const levels = topic.split('/');
  // Wildcards at the front do not match topics of the broker's own [MQTT-4.7.2-1].
  if (topic.startsWith('$') && (pattern[0] === '#' || pattern[0] === '+')) return false;
  for (const [k, level] of pattern.entries()) {
    if (level === '#') return true;
    if (k >= levels.length || (level !== '+' && level !== levels[k])) return false;
  }
  return pattern.length === levels.length;
}
