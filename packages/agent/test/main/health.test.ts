import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Health } from '../../src/main/health.ts';

describe('the health of an agent', () => {
  it.skipIf(!existsSync('/proc'))('counts its workers’ processor time and memory in', () => {
    const health = new Health();
    health.beginRun();
    const alone = health.sample({ workerPids: [], outboxFrames: 0 });
    const together = health.sample({ workerPids: [process.pid], outboxFrames: 3 });
    health.endRun();
    expect(together.rssBytes).toBeGreaterThan(1.5 * alone.rssBytes);
    expect(together.cpuSeconds).toBeGreaterThan(alone.cpuSeconds);
    expect(together.outboxFrames).toBe(3);
    expect(health.rssBytesMax).toBe(together.rssBytes);
  });

  it.skipIf(!existsSync('/proc'))('believes a worker’s own word more than a later sample', () => {
    const health = new Health();
    health.beginRun();
    health.workerFinished(process.pid, 1_000);
    const { cpuSeconds } = health.sample({ workerPids: [process.pid], outboxFrames: 0 });
    health.endRun();
    expect(cpuSeconds).toBeGreaterThanOrEqual(1_000);
  });

  it('tells the worst delay of a loop since the last sample', () => {
    const health = new Health();
    health.workerLoop(4_000);
    health.workerLoop(9_000);
    expect(health.sample({ workerPids: [], outboxFrames: 0 }).loopDelayP99Us).toBe(9_000);
    expect(health.sample({ workerPids: [], outboxFrames: 0 }).loopDelayP99Us).toBe(0);
  });

  it('keeps the time of a worker that has ended', () => {
    const health = new Health();
    health.beginRun();
    health.workerFinished(1_234_567, 42);
    health.endRun();
    health.beginRun();
    health.workerFinished(7, 2.5);
    const { cpuSeconds } = health.sample({ workerPids: [], outboxFrames: 0 });
    health.endRun();
    expect(cpuSeconds).toBeGreaterThanOrEqual(2.5);
    expect(cpuSeconds).toBeLessThan(42);
  });
});
