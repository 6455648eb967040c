import { compileTemplate, type TemplateContext } from '@squall/core/template';
import { describe, expect, it } from 'vitest';
import { topicPattern } from '../../src/clean/topic-pattern.ts';

const context: TemplateContext = {
  n: 0,
  clients: 10,
  blockN: 0,
  seq: 0,
  nowMs: 1_790_000_000_000,
  run: 'k3v9x2qa',
  group: 'devices',
  csv: { site: 'a/b' },
  secrets: { ROOM: 'blue' },
  vars: { area: 'n(1)' },
  random: () => 0.5,
};

describe('the pattern of a topic template', () => {
  it.each([
    ['up', 'up', ['up'], ['down', 'up/x']],
    ['d/{{n}}/up', 'd/+/up', ['d/1/up', 'd/77/up'], ['d/x/up', 'd/1/down', 'd/1/up/x']],
    ['d-{{n:06}}/{{seq}}', '+/+', ['d-000001/0'], ['d-/0', 'e-000001/0']],
    ['{{run}}/{{group}}/{{uuid}}', 'k3v9x2qa/devices/+', [], ['other/devices/x']],
    ['{{env.ROOM}}/{{area}}/{{random 1 9}}', 'blue/n(1)/+', ['blue/n(1)/4'], ['blue/n1/4']],
    ['s/{{csv.site}}/up', 's/#', ['s/a/b/up', 's/a/up'], ['s/a/b/down']],
  ])('%s', (text, filter, topics, others) => {
    const template = compileTemplate(text);
    const pattern = topicPattern(template, context);
    expect(pattern.filter).toBe(filter);
    for (const topic of topics) expect(pattern.matches(topic), topic).toBe(true);
    for (const topic of others) expect(pattern.matches(topic), topic).toBe(false);
    // Whatever the template gives is what is looked for.
    expect(pattern.matches(template.render(context))).toBe(true);
  });
});
