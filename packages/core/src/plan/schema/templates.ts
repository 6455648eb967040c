import { z } from 'zod';
import { parseTemplate, type TemplatePart } from '../../template/index.ts';
import { encodeUtf8 } from '../../text/utf8.ts';
import { MAX_TEXT_BYTES } from '../limits.ts';
import { notSupported } from '../problem.ts';
import { addFault } from './leaves.ts';

type Context = z.core.$RefinementCtx;
type PartName = 'seq' | 'now' | 'random' | 'uuid';

interface Place {
  /** What the text is, for messages. */
  readonly what: string;
  /** Names that change with each rendering and make no sense here. */
  readonly without: readonly PartName[];
  readonly check?: (filled: string) => string | null;
}

/** Client id, user name, password: rendered once a client. */
export const identityTemplate = () =>
  template({ what: 'it is rendered once a client', without: ['seq', 'now'] });

/** Topic of a message. */
export const topicTemplate = () => template({ what: 'a topic', without: [], check: topicFault });

/** Topic filter, rendered once a client. */
export const filterTemplate = () =>
  template({
    what: 'a filter is rendered once a client',
    without: ['seq', 'now', 'random', 'uuid'],
    check: filterFault,
  });

function template(place: Place) {
  return z
    .string()
    .superRefine((text, context) => checkTemplate(text, place, context))
    .meta({ 'x-unit': 'template' });
}

function checkTemplate(text: string, place: Place, context: Context): void {
  const parsed = parseTemplate(text);
  if (!parsed.ok) {
    const { message, hint, column } = parsed;
    addFault(context, { message, hint, column });
    return;
  }
  for (const part of parsed.parts) checkPart(part, place, context);
  // Each expression gives at least one character, and none of them can be a separator.
  const filled = parsed.parts.map((part) => (part.kind === 'text' ? part.text : 'x')).join('');
  if (filled.includes('\u0000')) {
    addFault(context, { message: 'the character U+0000 is not allowed [MQTT-1.5.3-2]' });
  }
  if (encodeUtf8(filled).length > MAX_TEXT_BYTES) {
    addFault(context, { message: `this is longer than ${MAX_TEXT_BYTES} bytes [MQTT-1.5.3]` });
  }
  const fault = place.check?.(filled) ?? null;
  if (fault !== null) addFault(context, { message: fault });
}

function checkPart(part: TemplatePart, place: Place, context: Context): void {
  if (part.kind === 'csv') {
    addFault(context, { message: notSupported('{{csv.…}} is'), code: 'SQ_UNSUPPORTED' });
  }
  // A variable's value may hold what looks like a variable: it is not followed.
  if (part.kind === 'var') addFault(context, { message: `there is no variable "${part.name}"` });
  const used = place.without.find((name) => usesName(part, name));
  if (used !== undefined) {
    addFault(context, { message: `{{${used}}} cannot stand here: ${place.what}` });
  }
}

function usesName(part: TemplatePart, name: PartName): boolean {
  return part.kind === 'index' ? part.of === name : part.kind === name;
}

/** [MQTT-4.7.1-1], [MQTT-4.7.3-1] */
function topicFault(topic: string): string | null {
  if (topic === '') return 'a topic has at least one character [MQTT-4.7.3-1]';
  const wildcard = /[#+]/.exec(topic)?.[0];
  if (wildcard === undefined) return null;
  return `"${wildcard}" is a wildcard: it cannot stand in the topic of a message [MQTT-4.7.1-1]`;
}

/** [MQTT-4.7.1-2], [MQTT-4.7.1-3] */
function filterFault(filter: string): string | null {
  if (filter === '') return 'a filter has at least one character [MQTT-4.7.3-1]';
  const levels = filter.split('/');
  for (const [index, level] of levels.entries()) {
    if (level.includes('#') && (level !== '#' || index !== levels.length - 1)) {
      return '"#" stands alone in the last level of a filter [MQTT-4.7.1-2]';
    }
    if (level.includes('+') && level !== '+') {
      return '"+" stands alone in its level of a filter [MQTT-4.7.1-3]';
    }
  }
  return null;
}
