import type { FromAgent } from '@squall/core/control';
import { beforeEach, describe, expect, it } from 'vitest';
import { BusVoice } from '../../src/main/bus-voice.ts';

type BusState = Extract<FromAgent, { type: 'bus_state' }>;

let said: BusState[];
let warnings: string[];
let voice: BusVoice;

beforeEach(() => {
  said = [];
  warnings = [];
  voice = new BusVoice({
    run: 'run-1',
    epoch: 1,
    logger: { info: () => undefined, warn: (text) => void warnings.push(text) },
    send: (state) => void said.push(state),
  });
});

describe('what an agent says of its end of the bus', () => {
  it('is nothing while it works', () => {
    voice.worked();
    voice.repeat();
    expect(said).toEqual([]);
  });

  it('is the beginning and the end of an outage, not each attempt', () => {
    for (let attempt = 0; attempt < 5; attempt++) voice.failed('nothing listens there');
    voice.worked();
    voice.worked();
    expect(said.map(({ trouble, interruptions }) => [trouble, interruptions])).toEqual([
      ['nothing listens there', 1],
      [null, 1],
    ]);
    expect(said[1]?.interruptedUs).toBeGreaterThan(0);
    expect(warnings).toHaveLength(1);
  });

  it('is the sum of what was lost', () => {
    voice.lost(3);
    voice.lost(2);
    expect(said.map(({ lostFrames }) => lostFrames)).toEqual([3, 5]);
  });

  it('is said again on a new link, as it is by then', () => {
    voice.failed('gone');
    voice.repeat();
    const [first, again] = said;
    expect(again).toMatchObject({ trouble: 'gone', interruptions: 1 });
    expect(again?.interruptedUs).toBeGreaterThanOrEqual(first?.interruptedUs ?? 0);
  });
});
