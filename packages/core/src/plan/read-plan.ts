import { checkCsvColumns } from './check/csv-columns.ts';
import type { GroupRows } from '../partition/index.ts';
import type { CsvTable } from './files/csv.ts';
import { FileBook } from './files/file-book.ts';
import type { PlanFiles, PlanFileSource } from './files/plan-files.ts';
import { findingsOf } from './issues.ts';
import { MAX_SCALE } from './limits.ts';
import { normalise } from './normal/normalise.ts';
import type { Plan } from './plan.ts';
import { type Finding, Findings, type PlanProblem, printPath } from './problem.ts';
import { Scaler, type ScaledValue } from './scale.ts';
import { planFile } from './schema/plan-file.ts';
import { soundParts } from './schema/sound-parts.ts';
import { requiredSecrets, secretUse } from './secrets.ts';
import { type PlanSource, readSource } from './source.ts';
import { substituteVariables } from './variables.ts';

export interface ReadPlanOptions {
  /** Values that override `vars`. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Labels beside those of the plan, which they override. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Factor of `--scale`; 1 by default. */
  readonly scale?: number;
  /** `--timeout`, µs: acts as `limits.maxDuration`. */
  readonly timeoutUs?: number;
  /** Where given, every `{{env.NAME}}` of the plan must be in it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What one that is not there is: `error` by default. A plan may be checked where it is not run. */
  readonly missingEnv?: 'error' | 'warning';
  /**
   * Where the files are that the plan names; null (the default): they are not looked at, and nothing
   * is said about what is in them.
   */
  readonly files?: PlanFileSource | null;
}

export type ReadPlan =
  | {
      readonly ok: true;
      readonly plan: Plan;
      /** What `--scale` changed. */
      readonly scaled: readonly ScaledValue[];
      readonly warnings: readonly PlanProblem[];
      /** Names of the environment variables that the plan needs. */
      readonly secrets: readonly string[];
      /** Names of the files and directories that the plan needs, sorted. */
      readonly fileNames: readonly string[];
      /** What is in its files; empty where they were not looked at. */
      readonly files: PlanFiles;
      /** Rows of its CSV files, by the group's name. */
      readonly rows: Readonly<Record<string, GroupRows>>;
    }
  | { readonly ok: false; readonly errors: readonly PlanProblem[] };

/**
 * Reads a plan (YAML or JSON) into its normalised form, or tells everything that is wrong with it,
 * in the order of the file. Faults of the syntax come alone; all others are told together.
 */
export function readPlan(text: string, options: ReadPlanOptions = {}): ReadPlan {
  const read = readSource(text);
  if (!read.ok) return { ok: false, errors: inOrder(read.problems) };
  const { source } = read;
  const findings = new Findings();
  const { value, vars, changed } = substituteVariables(source.value, options.vars ?? {}, findings);
  const locate = (list: readonly Finding[]) => problemsOf(list, source, changed);
  const scale = options.scale ?? 1;
  if (!(scale > 0 && scale <= MAX_SCALE)) {
    findings.error([], `${scale} is not a scale`, {
      code: 'SQ_USAGE',
      hint: `a scale is above 0 and at most ${MAX_SCALE}, for example 0.01`,
    });
  }
  const checked = planFile.safeParse(value);
  if (!checked.success) findings.errors.push(...findingsOf(checked.error.issues, value));
  const parts = checked.success ? { file: checked.data, unsound: null } : soundParts(value);
  if (parts === null) return { ok: false, errors: locate(findings.errors) };
  const scaler = new Scaler(scale);
  const { labels = {}, timeoutUs, env } = options;
  const files = new FileBook(options.files ?? null, findings);
  const context = {
    findings,
    scaler,
    files,
    tables: new Map<string, CsvTable>(),
    unsound: parts.unsound,
  };
  const plan = normalise(parts.file, { vars, labels, timeoutUs }, context);
  checkCsvColumns(value, plan.groups, { findings, looks: files.looks });
  const secrets = requiredSecrets(plan);
  if (env !== undefined) {
    const missing = secrets.filter((name) => !Object.hasOwn(env, name) || env[name] === undefined);
    checkSecrets(missing, {
      value,
      findings,
      kind: options.missingEnv ?? 'error',
    });
  }
  if (findings.errors.length > 0) return { ok: false, errors: locate(findings.errors) };
  const warnings = locate(findings.warnings);
  return {
    ok: true,
    plan,
    scaled: scaler.changes,
    warnings,
    secrets,
    fileNames: files.names,
    files: files.contents,
    rows: rowsOf(context.tables),
  };
}

function rowsOf(tables: ReadonlyMap<string, CsvTable>): Record<string, GroupRows> {
  return Object.fromEntries([...tables].map(([group, { rows }]) => [group, { first: 0, rows }]));
}

function checkSecrets(
  missing: readonly string[],
  plan: {
    /** With its variables filled in. */
    readonly value: unknown;
    readonly findings: Findings;
    readonly kind: 'error' | 'warning';
  },
): void {
  const { findings, kind, value } = plan;
  for (const name of missing) {
    const use = secretUse(value, name);
    const text = `the environment variable ${name} is not set`;
    const hint = `the plan uses {{env.${name}}} here: set it where the plan is run`;
    if (kind === 'warning') findings.warn(use?.path ?? [], text, hint);
    else findings.error(use?.path ?? [], text, { hint, column: use?.column });
  }
}

function problemsOf(
  findings: readonly Finding[],
  source: PlanSource,
  changed: ReadonlySet<string>,
): PlanProblem[] {
  const told = new Set<string>();
  return inOrder(
    findings.flatMap((finding) => {
      const path = printPath(finding.path);
      const { message, hint, code = 'SQ_PLAN' } = finding;
      // The filling in of variables and the check of a template may find the same fault.
      const key = JSON.stringify([path, message]);
      if (told.has(key)) return [];
      told.add(key);
      // A variable moved everything behind it.
      const moved = finding.inFile !== true && changed.has(path);
      const column = moved ? undefined : finding.column;
      const place = source.place({ ...finding, column });
      return [
        {
          ...place,
          path,
          message,
          code,
          ...(hint === undefined ? {} : { hint }),
        },
      ];
    }),
  );
}

function inOrder(problems: readonly PlanProblem[]): PlanProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}
