import type { Group } from '@squall/core/plan';
import { compileTemplate, parseTemplate, type TemplateContext } from '@squall/core/template';

/** Topics and groups, by their names. */
export interface RocketmqNames {
  readonly topics: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
}

/** Messages that failed come again from the one, and end in the other. */
const OF_GROUPS = ['%RETRY%', '%DLQ%'];

/**
 * What of the topics and groups that a group uses belongs to its run: those that have `{{run}}` in
 * their names, and those that the run says it made. Others were there before, and stay.
 * @param made as the run's report has it: `topic load`, `group readers`.
 */
export function namesOfRun(
  group: Group,
  context: TemplateContext,
  made: ReadonlySet<string>,
): RocketmqNames {
  const topics = new Set<string>();
  const groups = new Set<string>();
  const isOurs = (what: string, text: string, name: string): boolean =>
    hasRun(text) || made.has(`${what} ${name}`);
  const rendered = (text: string): string => compileTemplate(text).render(context);
  for (const { topic } of group.publish) {
    if (typeof topic !== 'string') continue;
    const name = rendered(topic);
    if (isOurs('topic', topic, name)) topics.add(name);
  }
  for (const { consume } of group.subscribe) {
    if (consume === undefined) continue;
    const [topic, name] = [rendered(consume.topic), rendered(consume.group)];
    if (isOurs('topic', consume.topic, topic)) topics.add(topic);
    if (!isOurs('group', consume.group, name)) continue;
    groups.add(name);
    for (const prefix of OF_GROUPS) topics.add(`${prefix}${name}`);
  }
  return { topics, groups };
}

function hasRun(text: string): boolean {
  const parsed = parseTemplate(text);
  return parsed.ok && parsed.parts.some(({ kind }) => kind === 'run');
}
