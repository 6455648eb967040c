import type { Template, TemplateContext } from '@squall/core/template';

/** Which topics a template may have given, for one that looks for them afterwards. */
export interface TopicPattern {
  /** Filter that all of them match. Others may match it, too. */
  readonly filter: string;
  /** Whether a topic may be one of them. */
  matches(topic: string): boolean;
}

type Part = Template['parts'][number];

/** Stand for what differs, in a text that is cut into levels afterwards. */
const ONE_LEVEL = '\u0001';
const ANY_LEVELS = '\u0002';

/**
 * The pattern of a topic template. Only what differs from client to client or message to message is
 * left open; the rest is filled in from `context`.
 */
export function topicPattern(template: Template, context: TemplateContext): TopicPattern {
  const marked = template.parts.map((part) => markOf(part, context)).join('');
  const levels = marked.split('/');
  // A value from a file may have levels of its own.
  const open = levels.findIndex((level) => level.includes(ANY_LEVELS));
  const kept = open < 0 ? levels : levels.slice(0, open);
  const shown = kept.map((level) => (level.includes(ONE_LEVEL) ? '+' : level));
  const filter = (open < 0 ? shown : [...shown, '#']).join('/');
  const pattern = template.parts.map((part) => patternOf(part, context)).join('');
  const whole = new RegExp(`^${pattern}$`, 's');
  return { filter, matches: (topic) => whole.test(topic) };
}

function markOf(part: Part, context: TemplateContext): string {
  const fixed = fixedText(part, context);
  if (fixed !== null) return fixed;
  return part.kind === 'csv' ? ANY_LEVELS : ONE_LEVEL;
}

function patternOf(part: Part, context: TemplateContext): string {
  const fixed = fixedText(part, context);
  if (fixed !== null) return fixed.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  if (part.kind === 'csv') return '.+';
  return part.kind === 'uuid' ? '[0-9a-f-]{36}' : String.raw`-?\d+`;
}

/** What a part is in every topic of the run; null where that differs. */
function fixedText(part: Part, context: TemplateContext): string | null {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'run':
      return context.run;
    case 'group':
      return context.group;
    case 'env':
      return context.secrets[part.name] ?? '';
    case 'var':
      return context.vars[part.name] ?? '';
    case 'index':
    case 'now':
    case 'random':
    case 'uuid':
    case 'csv':
    case 'stamp':
      return null;
  }
}
