import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { report as reportSchema } from '@squall/controller/api';
import { SquallError } from '@squall/core/errors';
import type { Report } from '@squall/core/report';
import { clientOf, type RemoteOptions } from './remote/options.ts';

/**
 * The report of a run that a person names by its folder, its file, or its id at a controller.
 * @throws SquallError SQ_USAGE where there is none, or none of this version.
 */
export async function reportOf(run: string, options: RemoteOptions): Promise<Report> {
  const file = reportFile(run);
  if (file !== null) return readReport(file);
  if (options.controller === undefined) {
    throw new SquallError('SQ_USAGE', `there is no report at ${run}`, {
      hint: 'give the folder of a local run (squall-out/<run id>), or the id of a run and --controller',
    });
  }
  return clientOf(options).json(`/v1/runs/${encodeURIComponent(run)}/report`, reportSchema);
}

function reportFile(run: string): string | null {
  if (!existsSync(run)) return null;
  const file = statSync(run).isDirectory() ? path.join(run, 'report.json') : run;
  return existsSync(file) ? file : null;
}

function readReport(file: string): Report {
  const parsed = reportSchema.safeParse(jsonOf(file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw new SquallError('SQ_USAGE', `this is no report: ${where}${issue?.message ?? ''}`, {
    path: file,
    hint: 'give report.json as this version of squall writes it',
  });
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new SquallError('SQ_USAGE', 'the report cannot be read', { path: file, cause });
  }
}
