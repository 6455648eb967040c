import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SquallError } from '@squall/core/errors';
import { afterAll, describe, expect, test } from 'vitest';
import { namedDescriptorFailure } from '../src/descriptor-failure.ts';
import { exitCodeOf } from '../src/exit-codes.ts';
import { descriptorLimit, loadingShortage, runShortage } from '../src/processes/descriptors.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'squall-limits-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function limits(text: string): string {
  const file = path.join(folder, 'limits');
  writeFileSync(file, text);
  return file;
}

describe('file descriptors', () => {
  test('the soft limit counts; none is as many as one likes', () => {
    const head = 'Limit                     Soft Limit           Hard Limit           Units\n';
    expect(descriptorLimit(limits(`${head}Max open files            1024  4096  files\n`))).toBe(
      1024,
    );
    expect(
      descriptorLimit(limits(`${head}Max open files            unlimited unlimited files\n`)),
    ).toBe(Number.POSITIVE_INFINITY);
    expect(descriptorLimit(path.join(folder, 'nowhere'))).toBe(Number.POSITIVE_INFINITY);
  });

  test('too few to load a command: what is needed, what there is, the command that mends it', () => {
    expect(loadingShortage(192)).toBeNull();
    expect(loadingShortage(64)).toMatchObject({
      message: 'too few file descriptors: squall needs 192, this process may hold 64',
      hint: expect.stringContaining('`ulimit -n 192`'),
    });
  });

  test('a run needs four a process beside its own', () => {
    expect(runShortage(200, 201, 868)).toBeNull();
    expect(runShortage(200, 201, 867)).toMatchObject({
      message:
        'too few file descriptors: a run of 200 agents on this machine needs 868, this process may hold 867',
    });
    expect(runShortage(1, 1, 192)).toBeNull();
  });

  test('the refusal of the system is named wherever it hides, and nothing else is', () => {
    const refusal = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    const hidden = new SquallError('SQ_OUTPUT', 'report.json could not be written', {
      cause: refusal,
    });
    for (const error of [refusal, hidden]) {
      const named = namedDescriptorFailure(error);
      expect(named).toMatchObject({
        code: 'SQ_CAPACITY',
        hint: expect.stringContaining('ulimit -n'),
        cause: error,
      });
      expect(exitCodeOf(named)).toBe(113);
    }
    const other = new Error('ENOENT');
    expect(namedDescriptorFailure(other)).toBe(other);
  });
});
