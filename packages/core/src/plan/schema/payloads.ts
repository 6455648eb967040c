import { z } from 'zod';
import { choice, plainText, size, strictMap } from './leaves.ts';
import { fileTemplate, payloadTemplate } from './templates.ts';

/** Longest text of a payload in a plan; longer ones belong into a file. */
const MAX_TEXT = 1_048_576;

export const PAYLOAD_WORDS = ['size', 'text', 'hex', 'template', 'json', 'file', 'files'] as const;

const payloadMap = strictMap({
  size: size().optional().describe('That many bytes, made up.'),
  fill: choice(['repeat', 'random', 'compressible'])
    .optional()
    .describe(
      'What made-up bytes are: `repeat` (the default) and `random` cannot be compressed, and are the same in every message or others in every message; `compressible` is text that shrinks to about a quarter.',
    ),
  text: plainText(MAX_TEXT).optional().describe('This text, as it is (UTF-8).'),
  hex: plainText(2 * MAX_TEXT)
    .optional()
    .describe('These bytes, two hexadecimal digits each.'),
  template: payloadTemplate(MAX_TEXT)
    .optional()
    .describe('Text with templates, rendered for each message as far as it changes.'),
  json: z
    .unknown()
    .optional()
    .describe(
      'JSON with templates in its texts. A text that is nothing but one of `{{n}}`, `{{block.n}}`, `{{seq}}`, `{{now}}` and `{{random 1 9}}` (without padding) becomes a number.',
    ),
  file: fileTemplate().optional().describe('The bytes of a file beside the plan.'),
  files: fileTemplate()
    .optional()
    .describe('The files of a directory beside the plan, one after the other by name.'),
});

/** `200B`, or a map with one of its words. */
export const payload = z.union([size(), payloadMap]);
export type PayloadFile = z.output<typeof payload>;
