/** Whether a topic fits a filter [MQTT-4.7]. */
export function filterMatches(filter: string, topic: string): boolean {
  const wanted = filter.split('/');
  const levels = topic.split('/');
  // Topics of the server itself are not what wildcards mean [MQTT-4.7.2-1].
  if (topic.startsWith('$') && !filter.startsWith('$')) return false;
  for (const [k, level] of wanted.entries()) {
    if (level === '#') return true;
    if (k >= levels.length || (level !== '+' && level !== levels[k])) return false;
  }
  return wanted.length === levels.length;
}

export interface SharedFilter {
  /** Null where the subscription is not shared. */
  readonly share: string | null;
  readonly filter: string;
}

/** `$share/<name>/<filter>` taken apart [MQTT-4.8.2]. */
export function parseShared(text: string): SharedFilter {
  const match = /^\$share\/([^/+#]+)\/(.+)$/.exec(text);
  return { share: match?.[1] ?? null, filter: match?.[2] ?? text };
}
