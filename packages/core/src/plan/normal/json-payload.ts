import { parseTemplate, type TemplatePart } from '../../template/index.ts';
import type { PlanPath } from '../problem.ts';
import type { NormalContext } from './context.ts';

interface Place {
  readonly path: PlanPath;
  readonly context: NormalContext;
}

/**
 * JSON in its shortest form, with the templates of its texts left in their places. A text that is
 * nothing but one expression which gives a number loses its quotes; names of members are as they are.
 */
export function jsonTemplate(value: unknown, place: Place): string {
  if (typeof value === 'string') return textTemplate(value, place);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => jsonTemplate(item, deeper(place, index)));
    return `[${items.join(',')}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => {
    if (name.includes('{{')) {
      place.context.findings.error([...place.path, name], 'the name of a member is no template', {
        atKey: true,
      });
    }
    return `${JSON.stringify(name)}:${jsonTemplate(member, deeper(place, name))}`;
  });
  return `{${members.join(',')}}`;
}

function deeper({ path, context }: Place, step: string | number): Place {
  return { path: [...path, step], context };
}

function textTemplate(text: string, { path, context }: Place): string {
  const parsed = parseTemplate(text);
  if (!parsed.ok) {
    const { message, hint, column } = parsed;
    context.findings.error(path, message, { hint, column });
    return '""';
  }
  const { parts } = parsed;
  for (const part of parts) {
    if (part.kind === 'var') {
      context.findings.error(path, `there is no variable "${part.name}"`);
    }
  }
  if (parts.length === 1 && parts.every(isNumber)) return text;
  let at = 0;
  let escaped = '';
  for (const part of parts) {
    const end = part.kind === 'text' ? at + part.text.length : text.indexOf('}}', at) + 2;
    // Braces need no escape in JSON, so an expression stays what it is.
    escaped += JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  return `"${escaped}"`;
}

function isNumber(part: TemplatePart): boolean {
  if (part.kind === 'index') return part.width === 0;
  return part.kind === 'now' || part.kind === 'random';
}
