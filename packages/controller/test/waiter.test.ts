import { describe, expect, it } from 'vitest';
import { HURRY, Waiter } from '../src/run/waiter.ts';
import { FakeTime } from './fake-time.ts';

function waiter(): { time: FakeTime; waiter: Waiter } {
  const time = new FakeTime();
  return { time, waiter: new Waiter(time) };
}

describe('a wait', () => {
  it('is over at once when its condition holds already', async () => {
    const { waiter: w, time } = waiter();
    const end = await w.wait({ until: () => true, deadlineUs: 10, yieldsTo: HURRY.graceful });
    expect(end).toBe('met');
    expect(time.armed).toBe(0);
  });

  it('looks at its condition when it is poked, and leaves no timer behind', async () => {
    const { waiter: w, time } = waiter();
    let met = false;
    const end = w.wait({ until: () => met, deadlineUs: 10, yieldsTo: HURRY.graceful });
    w.poke();
    met = true;
    w.poke();
    expect(await end).toBe('met');
    expect(time.armed).toBe(0);
  });

  it('ends at its deadline', async () => {
    const { waiter: w, time } = waiter();
    const end = w.wait({ until: () => false, deadlineUs: 10, yieldsTo: HURRY.graceful });
    time.advance(10);
    expect(await end).toBe('deadline');
  });

  it('whose condition holds at the deadline is met, even if nobody poked', async () => {
    const { waiter: w, time } = waiter();
    let met = false;
    const end = w.wait({ until: () => met, deadlineUs: 10, yieldsTo: HURRY.graceful });
    met = true;
    time.advance(10);
    expect(await end).toBe('met');
  });

  it('yields to the hurry that it names and to any greater, not to a smaller one', async () => {
    const { waiter: w } = waiter();
    const ends: string[] = [];
    const wait = async (yieldsTo: 1 | 2 | 3) => {
      await w.wait({ until: () => false, deadlineUs: 10, yieldsTo });
      ends.push(String(yieldsTo));
    };
    const all = [wait(HURRY.impatient), wait(HURRY.graceful), wait(HURRY.hard)];
    w.raise(HURRY.hard);
    await Promise.all(all.slice(1));
    expect(ends).toEqual(['1', '2']);
    w.raise(HURRY.graceful);
    expect(w.hurry).toBe(HURRY.hard);
    w.raise(HURRY.impatient);
    await Promise.all(all);
    expect(ends).toEqual(['1', '2', '3']);
  });

  it('that begins in a hurry is given up at once', async () => {
    const { waiter: w } = waiter();
    w.raise(HURRY.graceful);
    expect(await w.reach(10, HURRY.graceful)).toBe('interrupted');
    const end = await w.wait({ until: () => true, deadlineUs: 10, yieldsTo: HURRY.graceful });
    expect(end).toBe('interrupted');
  });

  it('for a moment is met when the moment has come', async () => {
    const { waiter: w, time } = waiter();
    const end = w.reach(10, HURRY.graceful);
    time.advance(9);
    w.poke();
    time.advance(1);
    expect(await end).toBe('met');
  });
});
