import { z } from 'zod';
import { parseTemplate, type TemplatePart } from '../../template/index.ts';
import { encodeUtf8 } from '../../text/utf8.ts';
import { MAX_TEXT_BYTES } from '../limits.ts';
import { addFault } from './leaves.ts';

type Context = z.core.$RefinementCtx;
type PartName = 'seq' | 'now' | 'random' | 'uuid' | 'run' | 'env' | 'stamp';

interface Place {
  /** What the text is, for messages. */
  readonly what: string;
  /** Names that change with each rendering, or are not known yet, and make no sense here. */
  readonly without: readonly PartName[];
  /** Longest text, bytes; the field of a packet holds no more than 65,535 [MQTT-1.5.3]. */
  readonly maxBytes?: number;
  readonly check?: (filled: string) => string | null;
}

/** Client id, user name, password: rendered once a client. */
export const identityTemplate = () =>
  template({
    what: 'it is rendered once a client',
    without: ['seq', 'now', 'stamp'],
  });

/** What is sent with every connect of a client, such as a header: the same each time. */
export const clientTemplate = () =>
  template({
    what: 'it is rendered once a client',
    without: ['seq', 'now', 'random', 'uuid', 'stamp'],
  });

/** Topic of a message. */
export const topicTemplate = () =>
  template({ what: 'a topic', without: ['stamp'], check: topicFault });

/** A topic that a client has once for all of its messages. */
export const clientTopicTemplate = () =>
  template({
    what: 'it is rendered once a client',
    without: ['seq', 'now', 'random', 'uuid', 'stamp'],
    check: topicFault,
  });

/** Topic filter, rendered once a client. */
export const filterTemplate = () =>
  template({
    what: 'a filter is rendered once a client',
    without: ['seq', 'now', 'random', 'uuid', 'stamp'],
    check: filterFault,
  });

/** Name of the group of a shared subscription [MQTT-4.8.2-1]. */
export const shareTemplate = () =>
  template({
    what: 'it is rendered once a client',
    without: ['seq', 'now', 'random', 'uuid', 'stamp'],
    check: shareFault,
  });

/** Text of a property of a message. */
export const propertyTemplate = () => template({ what: 'a property', without: ['stamp'] });

/** Text of a payload; the one place where a stamp can stand. */
export const payloadTemplate = (maxBytes: number) =>
  template({ what: 'a payload', without: [], maxBytes });

/** Name of a file: it is read before the run, so it knows nothing of it. */
export const fileTemplate = () =>
  template({
    what: 'files are read before the run',
    without: ['seq', 'now', 'random', 'uuid', 'run', 'env', 'stamp'],
    maxBytes: 4_096,
    check: (filled) => (filled === '' ? 'the name of a file is missing' : null),
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
  const { maxBytes = MAX_TEXT_BYTES } = place;
  if (maxBytes <= MAX_TEXT_BYTES && filled.includes('\u0000')) {
    addFault(context, {
      message: 'the character U+0000 is not allowed [MQTT-1.5.3-2]',
    });
  }
  if (encodeUtf8(filled).length > maxBytes) {
    const clause = maxBytes === MAX_TEXT_BYTES ? ' [MQTT-1.5.3]' : '';
    addFault(context, {
      message: `this is longer than ${maxBytes} bytes${clause}`,
    });
  }
  const fault = place.check?.(filled) ?? null;
  if (fault !== null) addFault(context, { message: fault });
}

function checkPart(part: TemplatePart, place: Place, context: Context): void {
  // A variable's value may hold what looks like a variable: it is not followed.
  if (part.kind === 'var') addFault(context, { message: `there is no variable "${part.name}"` });
  const used = place.without.find((name) => usesName(part, name));
  if (used !== undefined) {
    addFault(context, {
      message: `{{${shown(used)}}} cannot stand here: ${place.what}`,
    });
  }
}

function shown(name: PartName): string {
  return name === 'env' ? 'env.…' : name;
}

function usesName(part: TemplatePart, name: PartName): boolean {
  return part.kind === 'index' ? part.of === name : part.kind === name;
}

/** [MQTT-4.7.1-1], [MQTT-4.7.3-1] */
export function topicFault(topic: string): string | null {
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

/** [MQTT-4.8.2-1], [MQTT-4.8.2-2] */
function shareFault(name: string): string | null {
  if (name === '') return 'the name of a share has at least one character [MQTT-4.8.2-1]';
  const sign = /[/#+]/.exec(name)?.[0];
  if (sign === undefined) return null;
  return `"${sign}" cannot stand in the name of a share [MQTT-4.8.2-2]`;
}
