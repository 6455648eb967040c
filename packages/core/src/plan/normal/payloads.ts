import { TEXT_STAMP_BYTES } from '../../stamp/index.ts';
import { compileTemplate, type TemplatePart } from '../../template/index.ts';
import { encodeUtf8 } from '../../text/utf8.ts';
import type { FileFacts, Payload } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import { PAYLOAD_WORDS, type PayloadFile } from '../schema/payloads.ts';
import { jsonTemplate } from './json-payload.ts';
import type { NormalContext } from './context.ts';

interface Place {
  readonly path: PlanPath;
  readonly context: NormalContext;
}

type PayloadMap = Exclude<PayloadFile, number>;

export function normalisePayload(payload: PayloadFile, place: Place): Payload {
  if (typeof payload === 'number') return { kind: 'size', bytes: payload, fill: 'repeat' };
  const { findings } = place.context;
  const given = PAYLOAD_WORDS.filter((word) => payload[word] !== undefined);
  const [word] = given;
  if (word === undefined || given.length > 1) {
    const words = `${PAYLOAD_WORDS.slice(0, -1).join(', ')} and ${PAYLOAD_WORDS.at(-1)}`;
    findings.error(place.path, `a payload has exactly one of ${words}`);
    return { kind: 'text', text: '' };
  }
  if (payload.fill !== undefined && word !== 'size') {
    findings.error([...place.path, 'fill'], 'fill says what made-up bytes are: it needs size', {
      atKey: true,
    });
  }
  return ofWord(word, payload, { ...place, path: [...place.path, word] });
}

function ofWord(word: (typeof PAYLOAD_WORDS)[number], payload: PayloadMap, place: Place): Payload {
  const { size = 0, fill = 'repeat', text = '', hex = '', template = '' } = payload;
  switch (word) {
    case 'size':
      return { kind: 'size', bytes: size, fill };
    case 'text':
      return textOf(text, place);
    case 'hex':
      return hexOf(hex, place);
    case 'template':
      return { kind: 'template', template };
    case 'json':
      return { kind: 'json', template: jsonTemplate(payload.json, place) };
    case 'file':
    case 'files':
      return fileOf(payload, place);
  }
}

function fileOf({ file = '', files: directory }: PayloadMap, place: Place): Payload {
  const { path, context } = place;
  if (refusesTemplate(directory ?? file, place)) return { kind: 'text', text: '' };
  if (directory === undefined) {
    context.files.read(file, path);
    return { kind: 'file', file };
  }
  const files = context.files.list(directory, path);
  for (const each of files) context.files.read(each, path);
  return { kind: 'files', files };
}

function textOf(text: string, { path, context }: Place): Payload {
  if (text.includes('{{')) {
    context.findings.warn(
      path,
      'a text is sent as it is, with its {{…}}',
      'write template: in place of text: to have it filled in',
    );
  }
  return { kind: 'text', text };
}

function hexOf(hex: string, { path, context }: Place): Payload {
  const digits = hex.replaceAll(/\s/g, '').toLowerCase();
  if (!/^([0-9a-f]{2})*$/.test(digits)) {
    context.findings.error(path, 'these are not pairs of hexadecimal digits', {
      hint: 'write for example 00ff7e',
    });
  }
  return { kind: 'hex', hex: digits };
}

function refusesTemplate(name: string, { path, context }: Place): boolean {
  if (!name.includes('{{')) return false;
  context.findings.error(path, 'the files of a payload are the same for all clients', {
    hint: 'write files: with a directory to send several',
  });
  return true;
}

/** Says that a payload is none of a message that the ledger follows. `what` ends in its verb. */
export function refuseStamp(payload: Payload, what: string, place: Place): void {
  if (stampsIn(payload) === 0) return;
  place.context.findings.error(place.path, `{{stamp}} has no meaning here: ${what} not followed`);
}

/** Places for a stamp in a template. */
export function stampsIn(payload: Payload): number {
  if (payload.kind !== 'template' && payload.kind !== 'json') return 0;
  return compileTemplate(payload.template).parts.filter((part) => part.kind === 'stamp').length;
}

/**
 * Bytes of each message's payload, at most: exact where all are of one size, Infinity where the plan
 * does not say.
 */
export function payloadBytes(payload: Payload, files: Readonly<Record<string, FileFacts>>): number {
  switch (payload.kind) {
    case 'size':
      return payload.bytes;
    case 'text':
      return encodeUtf8(payload.text).length;
    case 'hex':
      return payload.hex.length / 2;
    case 'template':
    case 'json':
      return compileTemplate(payload.template).parts.reduce(
        (sum, part) => sum + partBytes(part),
        0,
      );
    case 'file':
      return files[payload.file]?.bytes ?? 0;
    case 'files':
      return Math.max(0, ...payload.files.map((file) => files[file]?.bytes ?? 0));
  }
}

/** Digits of the largest whole number that a double holds. */
const NUMBER_DIGITS = 17;
const UUID_BYTES = 36;

function partBytes(part: TemplatePart): number {
  switch (part.kind) {
    case 'text':
      return encodeUtf8(part.text).length;
    case 'index':
      return Math.max(NUMBER_DIGITS, part.width + 1);
    case 'random':
    case 'now':
      return NUMBER_DIGITS;
    case 'uuid':
      return UUID_BYTES;
    case 'stamp':
      return TEXT_STAMP_BYTES;
    case 'run':
    case 'group':
    case 'var':
    case 'csv':
    case 'env':
      return Number.POSITIVE_INFINITY;
  }
}
