import type { GroupCleaned } from '@squall/agent/clean';
import { expect, test } from 'vitest';
import { cleanedText, isClean } from '../src/terminal/cleaned-text.ts';
import { styleFor } from '../src/terminal/style.ts';

const plain = styleFor({}, {});
const GONE = { topics: 6, found: 6, unknown: 0, removed: 6, left: 0 };

function group(retained: GroupCleaned['retained']): GroupCleaned {
  return { group: 'p', retained, sessions: null, rocketmq: null, failures: [] };
}

function rowOf(retained: GroupCleaned['retained'], dryRun = false): string {
  const text = cleanedText({ run: 'r', dryRun, groups: [group(retained)] }, plain);
  return text.split('\n')[1]?.trim() ?? '';
}

test('all that was found and removed is clean', () => {
  expect(rowOf(GONE)).toBe('p  retained messages  6 topics · 6 found · 6 removed · 0 left');
  expect(isClean([group(GONE)])).toBe(true);
});

test('topics that could not be looked at are not known, and nothing is clean then', () => {
  const unknown = { ...GONE, found: 0, removed: 0, unknown: 6 };
  expect(rowOf(unknown)).toContain('6 topics · 0 found · 0 removed · 0 left · 6 not known');
  expect(rowOf(unknown, true)).toMatch(/6 topics · 0 found · 6 not known$/);
  expect(isClean([group(unknown)])).toBe(false);
  const open = { ...unknown, topics: null, unknown: null };
  expect(rowOf(open)).toContain('topics that differ by message · 0 found');
  expect(rowOf(open)).toMatch(/not all known$/);
  expect(isClean([group(open)])).toBe(false);
});

test('a broker that lets nobody look is told apart from one that could not be asked', () => {
  expect(rowOf({ ...GONE, found: null })).toMatch(
    /6 topics · nobody may look · 6 removed · 0 left$/,
  );
});
