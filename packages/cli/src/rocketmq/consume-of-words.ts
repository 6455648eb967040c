import { readFileSync } from 'node:fs';
import type { PlanEntry } from '../bench/plan-text.ts';
import { usage } from '../usage-error.ts';
import type { ToolWords } from './parse-flags.ts';
import { percent } from './publish-of-words.ts';

/** What the consumer does, by the flags of its tool. @throws SquallError SQ_USAGE */
export function consumeOf(words: ToolWords): PlanEntry[] {
  const group = words.text('group');
  const failRate = words.number('failRate');
  return [
    { key: 'topic', value: words.text('topic'), why: words.why('topic') },
    {
      key: 'group',
      value: words.on('groupSuffix') ? `${group}_{{run}}` : group,
      why: words.why('group', 'groupSuffix'),
    },
    ...filterOf(words),
    { key: 'from', value: 'last', why: 'of a group without offsets; theirs means the same' },
    ...(failRate > 0 ? [{ key: 'fail', value: percent(failRate), why: '-r' }] : []),
  ];
}

function filterOf(words: ToolWords): PlanEntry[] {
  if (!words.has('filterType')) {
    if (!words.has('expression')) return [];
    throw usage('-e without -f', 'say what the file holds: -f TAG or -f SQL92');
  }
  const type = words.text('filterType').toUpperCase();
  if (type !== 'TAG' && type !== 'SQL92') {
    throw usage(`-f ${words.text('filterType')} is no type of filter`, 'TAG or SQL92');
  }
  const file = words.text('expression');
  if (file === '') throw usage(`-f ${type} without -e`, 'give the file that holds the filter');
  const expression = readText(file).trim();
  const why = words.why('filterType', 'expression');
  if (type === 'SQL92') return [{ key: 'sql', value: expression, why }];
  const tags = expression.split('||').map((tag) => tag.trim());
  return expression === '*' ? [] : [{ key: 'tags', value: tags, why }];
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`the file of -e cannot be read: ${file}`, String(cause));
  }
}
