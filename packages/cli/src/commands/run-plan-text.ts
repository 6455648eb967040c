import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunScene } from './run.ts';
import type { RunCommandOptions } from './run-options.ts';

/**
 * `squall run` of a plan that stands in no file of the user's. `name` is what messages call it by.
 * @returns the exit code.
 */
export async function runPlanText(
  plan: { readonly name: string; readonly text: string },
  options: RunCommandOptions,
  scene: RunScene,
): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'squall-plan-'));
  try {
    const file = path.join(folder, `${plan.name}.yaml`);
    writeFileSync(file, plan.text);
    const { runCommand } = await import('./run.ts');
    return await runCommand(file, options, scene);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
