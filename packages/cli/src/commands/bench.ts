import type { BenchKind } from '../bench/flags.ts';
import { parseFlags } from '../bench/parse-flags.ts';
import { DEFAULT_LENGTH, planOfFlags } from '../bench/plan-of-flags.ts';
import { EXIT } from '../exit-codes.ts';
import type { PlanOfToolOptions } from '../plan-of-tool-options.ts';
import type { RunScene } from './run.ts';
import { runPlanText } from './run-plan-text.ts';

/**
 * `squall bench conn|pub|sub` with the flags of emqtt_bench: the plan that they stand for, printed or
 * run. @returns the exit code.
 * @throws SquallError SQ_USAGE for flags that cannot be understood, or had.
 */
export async function benchCommand(
  kind: BenchKind,
  given: { readonly words: readonly string[]; readonly options: PlanOfToolOptions },
  scene: RunScene,
): Promise<number> {
  const { printPlan, for: length = DEFAULT_LENGTH, ...options } = given.options;
  const plan = planOfFlags(parseFlags(kind, given.words), length);
  for (const note of plan.notes) scene.terminal.error(`note  ${note}\n`);
  if (printPlan) {
    scene.terminal.print(plan.text);
    return EXIT.ok;
  }
  return runPlanText({ name: `bench-${kind}`, text: plan.text }, options, scene);
}
