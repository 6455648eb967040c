import { describe, expect, it } from 'vitest';
import { systemTime } from '../src/time-source.ts';

describe('the system time', () => {
  it('never fires a timer early', async () => {
    const early: number[] = [];
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const dueUs = systemTime.monotonicUs() + i * 730;
        return new Promise<void>((resolve) => {
          systemTime.after(i * 730, () => {
            if (systemTime.monotonicUs() < dueUs) early.push(i);
            resolve();
          });
        });
      }),
    );
    expect(early).toEqual([]);
  });

  it('calls off what is called off, also beyond the longest timer of Node', async () => {
    let fired = 0;
    const cancel = systemTime.after(1_000, () => fired++);
    const cancelFar = systemTime.after(2 ** 31 * 2_000, () => fired++);
    cancel();
    await new Promise((resolve) => setTimeout(resolve, 10));
    cancelFar();
    expect(fired).toBe(0);
  });
});
