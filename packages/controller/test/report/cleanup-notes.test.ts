import type { CleanedGroup } from '@squall/core/control';
import { expect, it } from 'vitest';
import { cleanupNotes } from '../../src/report/cleanup-notes.ts';

const CLEANUP = { retained: true, sessions: true, ratePerS: 100, maxUs: 1_000_000 };

function notes(...cleaned: (CleanedGroup[] | undefined)[]): string[] {
  const finished = { lastSeq: 1, cpuSeconds: 1, rssBytesMax: 1 };
  const agents = cleaned.map((groups, index) => ({
    id: `agent-${index + 1}`,
    finished: groups === undefined ? finished : { ...finished, cleaned: groups },
  }));
  return cleanupNotes({ plan: { cleanup: CLEANUP }, startUs: 0, agents });
}

function group(changes: Partial<CleanedGroup>): CleanedGroup {
  return {
    group: 'p',
    retained: 0,
    retainedLeft: 0,
    retainedUnknown: 0,
    sessions: 0,
    sessionsUnknown: 0,
    failures: [],
    ...changes,
  };
}

const timedOut = (count: number) => ({ reason: 'connect: timed out', count });
const cutOff = { reason: 'the run was cut off', count: 0 };

it('adds up what the agents removed, a sentence a group', () => {
  const one = group({ retained: 5, sessions: 3 });
  expect(notes([one], [group({ sessions: 2 })])).toEqual([
    'Cleanup of p: 5 retained messages removed; 5 sessions removed.',
  ]);
});

it('says of how many topics and sessions nobody knows, and each reason once', () => {
  expect(
    notes(
      [group({ retainedUnknown: 6, sessionsUnknown: 3, failures: [cutOff, timedOut(4)] })],
      [group({ sessionsUnknown: 3, failures: [cutOff, timedOut(3)] })],
    ),
  ).toEqual([
    'Cleanup of p: 0 retained messages removed, of 6 topics nobody knows; 0 sessions removed, ' +
      'of 6 nobody knows (the run was cut off; connect: timed out (7 times)).',
  ]);
});

it('does not count topics that differ by message', () => {
  const [note] = notes([group({ retainedUnknown: null })], [group({ retainedUnknown: 2 })]);
  expect(note).toContain('0 retained messages removed, of some topics nobody knows;');
});

it('names the agents that removed nothing', () => {
  expect(notes(undefined, undefined)).toEqual([
    'Nothing was cleaned up by agent-1, agent-2: squall clean removes what is left on the brokers.',
  ]);
});

it('says nothing of a plan without cleanup, and of a load that never began', () => {
  const agents = [{ id: 'a', finished: null }];
  expect(cleanupNotes({ plan: { cleanup: null }, startUs: 0, agents })).toEqual([]);
  expect(cleanupNotes({ plan: { cleanup: CLEANUP }, startUs: null, agents })).toEqual([]);
});
