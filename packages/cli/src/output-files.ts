import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { prepareReportFolder, type ReportFiles } from '@squall/controller';
import { SquallError } from '@squall/core/errors';
import { REPORT_FORMATS } from '@squall/report';

/** Where runs go when nothing else is said: a folder for each, by its id. */
export const DEFAULT_OUT = 'squall-out';

export interface OutputOptions {
  /** Folder for `report.json` and its drawings. */
  readonly out?: string;
  /** A file that gets the JUnit report, too; overwritten at each run, as build servers want it. */
  readonly junit?: string;
  /** Writes over a report that is there. */
  readonly force?: true;
}

/**
 * Sees before a run that its reports can be written, and that no other run's is lost by it.
 * @throws SquallError SQ_OUTPUT with the option that is at fault.
 */
export async function prepareOutput({ out, junit, force }: OutputOptions): Promise<void> {
  if (out !== undefined && force !== true) refuseOverwriting(out);
  await named(out ?? DEFAULT_OUT, `--out ${out ?? DEFAULT_OUT}`, () =>
    prepareReportFolder(out ?? DEFAULT_OUT),
  );
  if (junit === undefined) return;
  await named(junit, `--junit ${junit}`, () => {
    if (statSync(junit, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new Error('it is a folder, a file is wanted');
    }
    return prepareReportFolder(path.dirname(junit));
  });
}

function refuseOverwriting(folder: string): void {
  const found = Object.values(REPORT_FORMATS)
    .map(({ file }) => path.join(folder, file))
    .find((file) => existsSync(file));
  if (found === undefined) return;
  throw new SquallError('SQ_OUTPUT', `--out ${folder} holds the report of another run`, {
    path: found,
    hint: 'name another folder, or write over it with --force',
  });
}

/** Where the report of a run is now, for whoever reads the terminal. */
export function filesText(files: ReportFiles, junit: string | undefined): string {
  const beside = [files.md, files.csv, files.hlog].map((file) => path.basename(file));
  return [
    `page     ${files.html} (beside it ${beside.join(', ')})`,
    `report   ${files.json}`,
    `junit    ${junit ?? files.junit}`,
    '',
  ].join('\n');
}

async function named(place: string, option: string, prepare: () => Promise<void>): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    // What was wrong with the folder is the cause; the words around it are those of the option.
    const cause = error instanceof SquallError ? (error.cause ?? error) : error;
    throw new SquallError('SQ_OUTPUT', `nothing can be written to ${option}`, {
      path: place,
      hint: 'name a place where this user may make files',
      cause,
    });
  }
}
