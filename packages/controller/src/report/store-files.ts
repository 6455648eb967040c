import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { SquallError } from '@squall/core/errors';
import type { Report } from '@squall/core/report';
import { REPORT_FORMATS, type ReportFormatName } from '@squall/report';

/** Paths of the drawings of a report. */
export type ReportFiles = Readonly<Record<ReportFormatName, string>>;

/** Whatever happens to a drawing: what it is a drawing of is there. */
const ORDER: readonly ReportFormatName[] = ['json', 'junit', 'md', 'csv', 'hlog', 'html'];

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
 * Writes `report.json` and all drawings of it. Each appears whole or not at all.
 * @throws SquallError SQ_OUTPUT
 */
export async function writeReport(folder: string, report: Report): Promise<ReportFiles> {
  const fileOf = (format: ReportFormatName) => path.join(folder, REPORT_FORMATS[format].file);
  for (const format of ORDER) {
    await writeWhole(fileOf(format), REPORT_FORMATS[format].draw(report));
  }
  return {
    json: fileOf('json'),
    junit: fileOf('junit'),
    md: fileOf('md'),
    csv: fileOf('csv'),
    hlog: fileOf('hlog'),
    html: fileOf('html'),
  };
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
