import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BenchKind } from '../bench/flags.ts';
import { parseFlags } from '../bench/parse-flags.ts';
import { DEFAULT_LENGTH, planOfFlags } from '../bench/plan-of-flags.ts';
import { EXIT } from '../exit-codes.ts';
import type { RunScene } from './run.ts';
import type { RunCommandOptions } from './run-options.ts';

/** Options of squall itself beside those of emqtt_bench; those of a run mean what they mean there. */
export interface BenchOptions
  extends Pick<
    RunCommandOptions,
    'agents' | 'workers' | 'out' | 'junit' | 'force' | 'quiet' | 'strict' | 'label'
  > {
  readonly printPlan?: true;
  /** As in a plan's `for`. */
  readonly for?: string;
}

/**
 * `squall bench conn|pub|sub` with the flags of emqtt_bench: the plan that they stand for, printed or
 * run. @returns the exit code.
 * @throws SquallError SQ_USAGE for flags that cannot be understood, or had.
 */
export async function benchCommand(
  kind: BenchKind,
  given: { readonly words: readonly string[]; readonly options: BenchOptions },
  scene: RunScene,
): Promise<number> {
  const { printPlan, for: length = DEFAULT_LENGTH, ...options } = given.options;
  const plan = planOfFlags(parseFlags(kind, given.words), length);
  for (const note of plan.notes) scene.terminal.error(`note  ${note}\n`);
  if (printPlan) {
    scene.terminal.print(plan.text);
    return EXIT.ok;
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'squall-bench-'));
  try {
    const file = path.join(folder, `bench-${kind}.yaml`);
    writeFileSync(file, plan.text);
    const { runCommand } = await import('./run.ts');
    return await runCommand(file, options, scene);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
