import type { TagFilter } from './threshold.ts';

/** Labels are short; a longer one is compared by its beginning, which keeps patterns cheap. */
const MAX_LABEL_LENGTH = 256;

/** Whether a label fits a filter. Patterns (`=~`) must match the whole label. */
export function matchesTag(tag: TagFilter, label: string): boolean {
  switch (tag.op) {
    case '=':
      return label === tag.value;
    case '!=':
      return label !== tag.value;
    case '=~':
      return new RegExp(`^(?:${tag.value})$`, 'u').test(label.slice(0, MAX_LABEL_LENGTH));
  }
}
