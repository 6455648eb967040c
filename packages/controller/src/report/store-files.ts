import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { SquallError } from '@squall/core/errors';
import { type Report, toJunit } from '@squall/core/report';

export interface ReportFiles {
  readonly report: string;
  readonly junit: string;
}

/**
 * Makes the folder and sees that files can be made in it. Called before a run: one whose report
 * cannot be written is a run for nothing.
 * @throws SquallError SQ_OUTPUT
 */
export async function prepareReportFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
    // Permissions do not tell everything (read-only file systems, quotas): only a file does.
    const probe = path.join(folder, `.squall-${randomBytes(6).toString('hex')}`);
    const file = await open(probe, 'wx');
    await file.close();
    await rm(probe);
  } catch (cause) {
    throw new SquallError('SQ_OUTPUT', `no report can be written to ${folder}`, {
      path: folder,
      hint: 'choose a folder that this user may write to',
      cause,
    });
  }
}

/**
 * Writes `report.json` and `junit.xml`. Each appears whole or not at all.
 * @throws SquallError SQ_OUTPUT
 */
export async function writeReport(folder: string, report: Report): Promise<ReportFiles> {
  const files = {
    report: path.join(folder, 'report.json'),
    junit: path.join(folder, 'junit.xml'),
  };
  await writeWhole(files.report, `${JSON.stringify(report, null, 2)}\n`);
  await writeWhole(files.junit, toJunit(report));
  return files;
}

/**
 * Writes a file under another name first, so that a reader never sees half of it.
 * @throws SquallError SQ_OUTPUT
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await makeFolder(path.dirname(file));
    const handle = await open(draft, 'wx');
    try {
      await handle.writeFile(text, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new SquallError('SQ_OUTPUT', `${file} could not be written`, {
      path: file,
      hint: 'see that the disk has room and that this user may write there',
      cause,
    });
  }
}

/**
 * As `mkdir -p`. Node's own recursive form never returns where a folder cannot be made below one
 * that exists (`/proc` is one).
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && (await isFolder(folder))) return;
    const parent = path.dirname(folder);
    if (code !== 'ENOENT' || parent === folder || (await isFolder(parent))) throw error;
    await makeFolder(parent);
    await mkdir(folder);
  }
}

async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
