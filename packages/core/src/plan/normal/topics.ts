import { encodeUtf8 } from '../../text/utf8.ts';
import { topicsOf } from '../files/topics-file.ts';
import { MAX_TEXT_BYTES, MAX_TOPIC_ROUND } from '../limits.ts';
import type { PublishStream, TopicChoice } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { TopicFile } from '../schema/publish.ts';
import { topicFault } from '../schema/templates.ts';
import { parseTemplate } from '../../template/index.ts';
import type { NormalContext } from './context.ts';

interface Place {
  readonly path: PlanPath;
  readonly context: NormalContext;
}

/** One template, or several with their weights. A list of one is that one. */
export function normaliseTopic(topic: TopicFile, place: Place): PublishStream['topic'] {
  if (typeof topic === 'string') return topic;
  const choices = Array.isArray(topic)
    ? topic.map(
        (each): TopicChoice =>
          typeof each === 'string'
            ? { template: each, weight: 1 }
            : { template: each.topic, weight: each.weight },
      )
    : fromFile(topic.file, { ...place, path: [...place.path, 'file'] });
  const round = choices.reduce((sum, { weight }) => sum + weight, 0);
  if (round > MAX_TOPIC_ROUND) {
    place.context.findings.error(
      place.path,
      `the weights of the topics add up to ${round}, at most ${MAX_TOPIC_ROUND} are possible`,
      { hint: 'divide them by the same number' },
    );
  }
  const [only] = choices;
  return choices.length === 1 && only !== undefined ? only.template : choices;
}

function fromFile(name: string, { path, context }: Place): readonly TopicChoice[] {
  if (name.includes('{{')) {
    context.findings.error(path, 'the file of topics is the same for all clients');
    return [];
  }
  const file = context.files.read(name, path);
  if (file === null) return [];
  const topics = topicsOf(file.content);
  if ('message' in topics) {
    context.findings.error(path, topics.message, topics);
    return [];
  }
  for (const { template } of topics) {
    const fault = templateFault(template);
    if (fault === null) continue;
    context.findings.error(path, `the topic "${template.slice(0, 80)}" of ${name}: ${fault}`);
    break;
  }
  return topics;
}

function templateFault(text: string): string | null {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return parsed.message;
  const misplaced = parsed.parts.find(({ kind }) => kind === 'var' || kind === 'stamp');
  if (misplaced !== undefined) return `{{${misplaced.kind}}} cannot stand here`;
  const filled = parsed.parts.map((part) => (part.kind === 'text' ? part.text : 'x')).join('');
  if (encodeUtf8(filled).length > MAX_TEXT_BYTES) return 'it is too long [MQTT-1.5.3]';
  return topicFault(filled);
}
