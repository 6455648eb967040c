import type { RunHandle } from '@squall/controller';
import { EXIT } from '../exit-codes.ts';
import type { PlanOfToolOptions } from '../plan-of-tool-options.ts';
import { differences } from '../rocketmq/differences.ts';
import type { ToolKind } from '../rocketmq/flags.ts';
import type { OutputStyle } from '../rocketmq/official-lines.ts';
import { OfficialReport } from '../rocketmq/official-report.ts';
import { parseToolWords, type ToolWords } from '../rocketmq/parse-flags.ts';
import { DEFAULT_LENGTH, planOfWords, SECRET_VARIABLE } from '../rocketmq/plan-of-words.ts';
import { totalsOf } from '../rocketmq/tool-totals.ts';
import type { RunScene } from './run.ts';
import { runPlanText } from './run-plan-text.ts';

export interface ToolOptions extends PlanOfToolOptions {
  readonly officialOutput?: OutputStyle;
}

/**
 * `squall rocketmq producer|consumer|batchproducer|tproducer` with the flags of RocketMQ's own tools:
 * the plan that they stand for, printed or run. @returns the exit code.
 * @throws SquallError SQ_USAGE for flags that cannot be understood, or had.
 */
export async function rocketmqCommand(
  kind: ToolKind,
  given: { readonly words: readonly string[]; readonly options: ToolOptions },
  scene: RunScene,
): Promise<number> {
  const { printPlan, officialOutput, for: length = DEFAULT_LENGTH, ...options } = given.options;
  const { terminal } = scene;
  const words = parseToolWords(kind, given.words);
  const plan = planOfWords(words, length);
  for (const note of plan.notes) terminal.error(`note  ${note}\n`);
  if (printPlan) {
    terminal.print(plan.text);
    return EXIT.ok;
  }
  // As if it had been set outside: it is looked for there, and hidden everywhere.
  if (plan.secretKey !== null) process.env[SECRET_VARIABLE] = plan.secretKey;
  let watched: RunHandle | null = null;
  const watch = (handle: RunHandle): void => {
    watched = handle;
    if (officialOutput !== undefined) officialReport(words, officialOutput, scene).watch(handle);
  };
  const quiet = officialOutput === undefined ? options.quiet : true;
  const exitCode = await runPlanText(
    { name: `rocketmq-${kind}`, text: plan.text },
    { ...options, ...(quiet === undefined ? {} : { quiet }) },
    { ...scene, watch },
  );
  tellDifferences(kind, watched, scene);
  return exitCode;
}

function officialReport(words: ToolWords, style: OutputStyle, { terminal }: RunScene) {
  const { kind } = words;
  terminal.print(`${parametersOf(words)}\n`);
  return new OfficialReport({
    kind,
    style,
    batch: kind === 'batchproducer' ? words.number('batchSize') : 1,
    intervalMs: words.number('reportInterval'),
    completes: kind === 'producer' && words.number('messageQuantity') > 0,
    print: (line) => terminal.print(`${line}\n`),
    now: Date.now,
  });
}

/** Their first line: what the tool was told. */
function parametersOf(words: ToolWords): string {
  const names =
    words.kind === 'consumer'
      ? ['topic', 'group', 'filterType', 'failRate', 'aclEnable']
      : ['topic', 'threadCount', 'messageSize', 'aclEnable'];
  return names.map((name) => `${name}: ${words.text(name)}`).join(' ');
}

function tellDifferences(kind: ToolKind, handle: RunHandle | null, { terminal }: RunScene): void {
  const figures = handle?.figures ?? null;
  if (figures === null) return;
  for (const note of differences(kind, totalsOf(figures, kind))) terminal.error(`note  ${note}\n`);
}
