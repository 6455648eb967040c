import type { GroupTrial, TrialStep } from '@squall/agent/trial';
import { formatDuration } from '@squall/core/units';
import { EXIT } from '../exit-codes.ts';
import type { Style } from './style.ts';

export interface Trial {
  readonly trials: readonly GroupTrial[];
  readonly tookUs: number;
}

/** What a trial found: a line a step, and of the first failure what it means. */
export function trialText({ trials, tookUs }: Trial, style: Style): string {
  const lines = trials.flatMap(({ group, client, address, steps }) => [
    '',
    `${style.bold(group)}  ${style.dim(`${client} at ${address}`)}`,
    ...steps.map((step) => stepLine(step, style)),
  ]);
  const took = `tried in ${formatDuration(Math.round(tookUs / 1_000) * 1_000)}`;
  return `${[...lines, '', ...conclusion(trials, style), style.dim(took)].join('\n')}\n`;
}

/** 99: the broker does not do what the plan wants. 112: something could not be seen. */
export function trialExitCode(trials: readonly GroupTrial[]): number {
  const states = trials.flatMap(({ steps }) => steps.map(({ state }) => state));
  if (states.includes('failed')) return EXIT.fail;
  return states.includes('unknown') ? EXIT.inconclusive : EXIT.ok;
}

function stepLine({ step, state, text }: TrialStep, style: Style): string {
  const mark = {
    ok: style.green('ok     '),
    failed: style.red('failed '),
    unknown: style.yellow('unknown'),
  }[state];
  return `  ${mark}  ${step.padEnd('come back'.length)}  ${text}`;
}

function conclusion(trials: readonly GroupTrial[], style: Style): string[] {
  const failures = trials.flatMap(({ group, address, steps }) =>
    steps.filter(({ state }) => state !== 'ok').map((step) => ({ group, address, step })),
  );
  const first = failures.find(({ step }) => step.state === 'failed') ?? failures[0];
  if (first === undefined) return [style.green('every group reached its broker')];
  const { group, address, step } = first;
  const said = step.state === 'failed' ? 'failed' : 'could not be seen';
  const others = failures.length - 1;
  return [
    `${style.red(`${group}: ${step.step} ${said}`)} at ${address}`,
    `  what   ${step.text}`,
    ...(step.hint === null ? [] : [`  next   ${step.hint}`]),
    ...(others > 0 ? [`  and ${others} more`] : []),
  ];
}
