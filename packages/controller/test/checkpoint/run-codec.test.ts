import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeSavedRun, encodeSavedRun } from '../../src/run/checkpoint/run-codec.ts';
import { savedRunOf } from './saved-runs.ts';

const ID = '20261130t120000-abcdefgh';

const written = (json: unknown) => deflateSync(JSON.stringify(json));

describe('a saved run', () => {
  it('comes back as it was', async () => {
    const saved = savedRunOf(ID, {
      cut: { cause: 'stopped', by: 'api', reasons: ['the run was stopped by the API'] },
      hurry: 1,
      warnings: ['nothing has been heard from agent a for a while'],
    });
    expect(await decodeSavedRun(await encodeSavedRun(saved))).toEqual(saved);
  });

  it.for([
    ['bytes that are no checkpoint', Buffer.from('not deflated')],
    ['half of one', written(savedRunOf(ID)).subarray(0, 100)],
    ['text that is no JSON', deflateSync('{')],
    ['a part that is missing', written({ ...savedRunOf(ID), startUs: undefined })],
    ['a part that nobody knows', written({ ...savedRunOf(ID), more: 1 })],
    ['a hurry that there is not', written({ ...savedRunOf(ID), hurry: 4 })],
  ] as const)('is refused where it is damaged: %s', async ([, bytes]) => {
    await expect(decodeSavedRun(bytes)).rejects.toMatchObject({
      code: 'SQ_STORE',
      message: expect.stringContaining('damaged'),
    });
  });

  it('of another version says so', async () => {
    await expect(decodeSavedRun(written({ ...savedRunOf(ID), version: 1 }))).rejects.toMatchObject({
      code: 'SQ_STORE',
      message: 'the checkpoint is of version 1, this controller knows 2',
    });
  });
});
