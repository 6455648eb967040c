import { describe, expect, it } from 'vitest';
import { createRunId } from '../src/run/run-id.ts';

describe('a run id', () => {
  it('sorts by its start and holds the short form', () => {
    const id = createRunId(Date.UTC(2026, 10, 30, 17, 5, 9));
    expect(id.full).toBe(`20261130t170509-${id.short}`);
  });

  it('is short, lower case and safe everywhere', () => {
    for (let i = 0; i < 200; i++) expect(createRunId(0).short).toMatch(/^[a-z2-7]{8}$/);
  });

  it('spells its entropy in base32', () => {
    expect(createRunId(0, Uint8Array.of(0, 1, 25, 26, 31, 32, 255, 128)).short).toBe('abz27a7a');
  });

  it('is another one each time', () => {
    const ids = new Set(Array.from({ length: 1_000 }, () => createRunId(0).short));
    expect(ids.size).toBe(1_000);
  });
});
