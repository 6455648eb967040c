import { readPattern } from './pattern.ts';
import type { TagFilter } from './threshold.ts';

/** Whether a label fits a filter. Patterns (`=~`) must match the whole label. */
export function matchesTag(tag: TagFilter, label: string): boolean {
  switch (tag.op) {
    case '=':
      return label === tag.value;
    case '!=':
      return label !== tag.value;
    case '=~':
      return readPattern(tag.value)(label);
  }
}
