import { MAX_TOPIC_WEIGHT, MAX_TOPICS } from '../limits.ts';
import type { TopicChoice } from '../plan.ts';
import type { Fault } from '../schema/leaves.ts';
import { parseCsv } from './csv.ts';
import { textOfFile } from './text-file.ts';

const TOPIC = 'topic';
const WEIGHT = 'weight';

/**
 * The topics of a file: one a line, where empty lines and those that begin with # count for nothing;
 * or CSV whose header names the column `topic`, and `weight` where there are weights.
 */
export function topicsOf(content: Uint8Array): readonly TopicChoice[] | Fault {
  const text = textOfFile(content);
  if (text === null) return { message: 'the file of topics is not text in UTF-8' };
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const topics = isTable(lines[0] ?? '')
    ? fromTable(content)
    : lines.map((template): TopicChoice => ({ template, weight: 1 }));
  if ('message' in topics) return topics;
  if (topics.length === 0) return { message: 'there are no topics in the file' };
  if (topics.length <= MAX_TOPICS) return topics;
  return {
    message: `there are ${topics.length} topics in the file, at most ${MAX_TOPICS} are possible`,
    hint: 'a template such as devices/{{n}}/up gives each client a topic of its own',
  };
}

function isTable(header: string): boolean {
  return header === TOPIC || header.split(',').some((name) => name.trim() === WEIGHT);
}

function fromTable(content: Uint8Array): readonly TopicChoice[] | Fault {
  const table = parseCsv(content);
  if ('message' in table) return table;
  const topicAt = table.columns.indexOf(TOPIC);
  const weightAt = table.columns.indexOf(WEIGHT);
  if (topicAt === -1) return { message: 'the file of topics has no column "topic"' };
  const topics: TopicChoice[] = [];
  for (const [index, row] of table.rows.entries()) {
    const weight = weightAt === -1 ? 1 : Number(row[weightAt]);
    if (!Number.isInteger(weight) || weight < 1 || weight > MAX_TOPIC_WEIGHT) {
      return {
        message: `"${row[weightAt]}" in row ${index + 1} is not a weight`,
        hint: `weights are whole numbers from 1 to ${MAX_TOPIC_WEIGHT}`,
      };
    }
    topics.push({ template: row[topicAt] ?? '', weight });
  }
  return topics;
}
