import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareReportFolder, writeReport, writeWhole } from '../src/report/store-files.ts';
import { planOf } from './plans.ts';
import { runScene } from './run-fixture.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'squall-store-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the report folder', () => {
  it('is made, with all above it, and left empty', async () => {
    const deep = path.join(folder, 'a', 'b');
    await prepareReportFolder(deep);
    expect(await readdir(deep)).toEqual([]);
  });

  it('that cannot be made is told before the run, with its path and a hint', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    await expect(prepareReportFolder(path.join(file, 'below'))).rejects.toMatchObject({
      code: 'SQ_OUTPUT',
      path: path.join(file, 'below'),
      hint: expect.stringContaining('may write') as string,
    });
    await expect(prepareReportFolder(file)).rejects.toMatchObject({ code: 'SQ_OUTPUT' });
    // Even root cannot make files there.
    await expect(prepareReportFolder('/proc/squall')).rejects.toMatchObject({ code: 'SQ_OUTPUT' });
  });
});

describe('a report', () => {
  it('is written whole, with all its drawings, and leaves nothing else behind', async () => {
    const scene = await runScene({ plan: planOf({ stages: [{ forUs: 100_000 }] }), scripts: [] });
    scene.handle.stop('graceful', 'api');
    const report = await scene.report();
    await scene.close();
    const files = await writeReport(folder, report);
    expect(JSON.parse(await readFile(files.json, 'utf8'))).toEqual(report);
    expect(await readFile(files.junit, 'utf8')).toMatch(/^<\?xml/);
    expect((await readdir(folder)).toSorted()).toEqual([
      'junit.xml',
      'report.csv',
      'report.hlog',
      'report.html',
      'report.json',
      'report.md',
    ]);
  });

  it('replaces an older one', async () => {
    const file = path.join(folder, 'out', 'text');
    await writeWhole(file, 'old');
    await writeWhole(file, 'new');
    expect(await readFile(file, 'utf8')).toBe('new');
    expect(await readdir(path.dirname(file))).toEqual(['text']);
  });

  it('that cannot be written is an error with its path, and leaves no draft behind', async () => {
    const file = path.join(folder, 'taken');
    await prepareReportFolder(file);
    await expect(writeWhole(file, 'text')).rejects.toMatchObject({ code: 'SQ_OUTPUT', path: file });
    expect(await readdir(folder)).toEqual(['taken']);
  });
});
