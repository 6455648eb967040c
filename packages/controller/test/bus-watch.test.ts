import { beforeEach, describe, expect, it } from 'vitest';
import { BusWatch } from '../src/run/bus-watch.ts';

let warnings: string[];
let watch: BusWatch;

beforeEach(() => {
  warnings = [];
  watch = new BusWatch({ warning: (text) => void warnings.push(text) });
});

const state = (part: Partial<Parameters<BusWatch['state']>[1]>) => ({
  trouble: null,
  interruptions: 0,
  interruptedUs: 0,
  lostFrames: 0,
  ...part,
});
const found = () => watch.troubles().map(({ check, observed }) => [check, observed]);

describe('the watch over the bus of a run', () => {
  it('finds nothing where nothing happened', () => {
    watch.state('agent-1', state({}));
    expect([found(), warnings]).toEqual([[], []]);
  });

  it('sums up what the controller saw, and says how long it was', () => {
    for (const afterUs of [2_000_000, 3_000_000]) {
      watch.notice({ kind: 'interrupted', reason: 'nothing listens there' });
      watch.notice({ kind: 'resumed', afterUs });
    }
    expect(found()).toEqual([['bus_interrupted', 5_000_000]]);
    expect(watch.troubles()[0]?.hint).toContain('for 5s (seen by the controller alone)');
    expect(warnings).toHaveLength(4);
  });

  it('takes the longest of what agents and controller saw for the outage', () => {
    watch.state('agent-1', state({ interruptions: 1, interruptedUs: 4_000_000 }));
    watch.state('agent-2', state({ interruptions: 2, interruptedUs: 9_000_000 }));
    expect(found()).toEqual([['bus_interrupted', 9_000_000]]);
    expect(watch.troubles()[0]?.hint).toContain('seen by 2 agents');
  });

  it('says what did not work at the end, and why', () => {
    watch.state('agent-1', state({ trouble: 'it is full', interruptions: 1 }));
    expect(watch.troubles()[0]?.hint).toMatch(/did not at the end: it is full/);
  });

  it('warns of an agent once an interruption, whatever is repeated, and not beside its own', () => {
    const failing = state({ trouble: 'it is full', interruptions: 1 });
    watch.state('agent-1', failing);
    watch.state('agent-1', failing);
    expect(warnings).toHaveLength(1);
    watch.notice({ kind: 'interrupted', reason: 'gone' });
    watch.state('agent-2', failing);
    expect(warnings).toHaveLength(2);
  });

  it('adds up the frames that were lost, once each', () => {
    watch.state('agent-1', state({ lostFrames: 3 }));
    watch.state('agent-1', state({ lostFrames: 3 }));
    watch.state('agent-2', state({ lostFrames: 1 }));
    expect(found()).toEqual([['bus_data_lost', 4]]);
    expect(warnings).toHaveLength(2);
  });

  it('keeps memory, length and holes apart', () => {
    watch.notice({ kind: 'memory', reason: 'its maxmemory-policy is allkeys-lru' });
    watch.notice({ kind: 'long', agent: 'agent-1', entries: 300 });
    watch.notice({ kind: 'gap', agent: 'agent-1', seqFrom: 2, seqTo: 4 });
    expect(found()).toEqual([
      ['bus_memory', 'warned'],
      ['bus_length', 300],
      ['bus_gap', 1],
    ]);
  });

  it('holds judgement up while the bus, or one that is waited for, is out of order', () => {
    expect(watch.holdsUp(['agent-1'])).toBe(false);
    watch.state('agent-1', state({ trouble: 'it is full', interruptions: 1 }));
    expect(watch.holdsUp(['agent-1'])).toBe(true);
    // An agent that is lost is waited for no more.
    expect(watch.holdsUp(['agent-2'])).toBe(false);
    watch.notice({ kind: 'interrupted', reason: 'gone' });
    expect(watch.holdsUp(['agent-2'])).toBe(true);
    watch.notice({ kind: 'resumed', afterUs: 1 });
    watch.state('agent-1', state({ interruptions: 1 }));
    expect(watch.holdsUp(['agent-1', 'agent-2'])).toBe(false);
  });
});
