import { readFileSync } from 'node:fs';
import { SquallError } from '@squall/core/errors';
import {
  formatProblems,
  type Plan,
  type PlanMaterial,
  readPlan,
  type ScaledValue,
} from '@squall/core/plan';
import { formatCount } from '@squall/core/units';
import { FilesBeside } from './files-beside.ts';
import { PlanRefused } from './plan-refused.ts';

export interface PlanRequest {
  /** Path of the plan file. */
  readonly file: string;
  readonly vars?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly scale?: number | undefined;
  /** µs. */
  readonly timeoutUs?: number | undefined;
  /** Where the values of `{{env.X}}` come from; null: they are not looked at. */
  readonly env: Readonly<Record<string, string | undefined>> | null;
  /** What one that is not set is: `error` if left out. */
  readonly missingEnv?: 'error' | 'warning';
}

export interface LoadedPlan {
  readonly plan: Plan;
  readonly scaled: readonly ScaledValue[];
  /** One text a warning, with its place. */
  readonly warnings: readonly string[];
  /** Values of `{{env.X}}`. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What is in the files that it names. */
  readonly material: PlanMaterial;
  /** `quickstart · 2 groups, 320 clients, 3 stages, 5 thresholds` */
  readonly about: string;
}

/**
 * Reads a plan file.
 * @throws PlanRefused with all that is wrong with it. @throws SquallError SQ_PLAN if it cannot be read.
 */
export function loadPlan(request: PlanRequest): LoadedPlan {
  const { file, env } = request;
  const read = readPlan(readPlanText(file), {
    vars: request.vars ?? {},
    labels: request.labels ?? {},
    scale: request.scale ?? 1,
    files: new FilesBeside(file),
    ...(request.timeoutUs === undefined ? {} : { timeoutUs: request.timeoutUs }),
    ...(env === null ? {} : { env }),
    ...(request.missingEnv === undefined ? {} : { missingEnv: request.missingEnv }),
  });
  if (!read.ok) throw new PlanRefused(formatProblems(file, read.errors));
  const { plan, scaled, warnings } = read;
  const secrets = Object.fromEntries(read.secrets.map((name) => [name, env?.[name] ?? '']));
  return {
    plan,
    scaled,
    warnings: warnings.map((warning) => formatProblems(file, [warning], 'warning')),
    secrets,
    material: { files: inBase64(read.files), rows: read.rows },
    about: aboutPlan(plan, request.scale ?? 1),
  };
}

function inBase64(files: Readonly<Record<string, Uint8Array>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString('base64')]),
  );
}

/** @throws SquallError SQ_PLAN where the file cannot be read, or is not UTF-8. */
export function readPlanText(file: string): string {
  const bytes = readBytes(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SquallError('SQ_PLAN', 'the plan is not text in UTF-8', {
      path: file,
      hint: 'save it as UTF-8: UTF-16 and the older encodings of one byte are not read',
      cause,
    });
  }
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new SquallError('SQ_PLAN', 'the plan cannot be read', {
      path: file,
      hint: 'give the path of a plan file; plans/quickstart.yaml is one to begin with',
      cause,
    });
  }
}

function aboutPlan(plan: Plan, scale: number): string {
  const clients = plan.groups.reduce((sum, group) => sum + group.clients, 0);
  const parts = [
    plural(plan.groups.length, 'group'),
    plural(clients, 'client'),
    plural(plan.stages.length, 'stage'),
    plural(plan.thresholds.length, 'threshold'),
  ];
  const scaled = scale === 1 ? '' : ` at scale ${scale}`;
  return `${plan.name}${scaled} · ${parts.join(', ')}`;
}

function plural(count: number, what: string): string {
  return `${formatCount(count)} ${what}${count === 1 ? '' : 's'}`;
}
