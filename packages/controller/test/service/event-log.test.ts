import { describe, expect, it } from 'vitest';
import { EventLog } from '../../src/service/event-log.ts';

function logOf(count: number, limit?: number): EventLog {
  const log = new EventLog('life', limit);
  for (let n = 1; n <= count; n++) log.append('warning', { n });
  return log;
}

function numbers(page: ReturnType<EventLog['after']>): number[] {
  return page.events.map(({ data }) => (JSON.parse(data) as { n: number }).n);
}

describe('the log of a run', () => {
  it('gives everything to a new reader, and what came since to one that comes back', () => {
    const log = logOf(5);
    expect(numbers(log.after(null))).toEqual([1, 2, 3, 4, 5]);
    const third = log.after(null).events[2]?.id ?? '';
    expect(numbers(log.after(third))).toEqual([4, 5]);
    expect(log.after(third).missed).toBe(false);
  });

  it('is bounded, and says so to those who come too late', () => {
    const log = logOf(1_000, 10);
    const page = log.after(null);
    expect(page.events.length).toBeLessThanOrEqual(20);
    expect(numbers(page).at(-1)).toBe(1_000);
    expect(page.missed).toBe(true);
    expect(log.after('life-1').missed).toBe(true);
    expect(numbers(log.after('life-999'))).toEqual([1_000]);
    expect(log.after('life-999').missed).toBe(false);
  });

  it('does not take the ids of another life for its own', () => {
    const log = logOf(3);
    expect(numbers(log.after('other-3'))).toEqual([1, 2, 3]);
    expect(log.after('other-3').missed).toBe(true);
    expect(log.after('').missed).toBe(true);
  });

  it('gives nothing to a reader that is ahead of it', () => {
    expect(logOf(3).after('life-7').events).toEqual([]);
  });

  it('tells listeners each event once, and its end', () => {
    const log = logOf(1);
    const told: string[] = [];
    const stop = log.onEvent(({ id }) => told.push(id));
    log.onEnd(() => told.push('end'));
    log.append('state', {});
    stop();
    log.append('state', {});
    log.end();
    expect(told).toEqual(['life-2', 'end']);
    expect(log.isOver('life-3')).toBe(true);
    expect(log.isOver('life-2')).toBe(false);
    expect(log.isOver(null)).toBe(false);
  });
});
